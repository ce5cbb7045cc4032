# SPDX-License-Identifier: GPL-3.0-or-later
"""Features of motions: what an encoder learns, what a Gram matrix tells, and that nothing is learned twice."""

import numpy as np
import pytest

from sinew.core.errors import BadFile, LearningFailed
from sinew.core.learn import autoencoder_cache
from sinew.core.learn.autoencoder import MotionEncoder, gram_distance, gram_matrix, hash_sequences


def swinging(seed=0, frames=90, size=6, rate=0.2):
    rng = np.random.default_rng(seed)
    at = np.arange(frames)[:, None]
    return np.sin(rate * at + rng.uniform(0, 6, size)) * rng.uniform(0.3, 1.0, size) + rng.normal(size=size)


def random_encoder(size=6, units=5, width=4, seed=0):
    rng = np.random.default_rng(seed)
    arrays = (np.zeros(size), np.ones(size), rng.normal(size=(units, width * size)), rng.normal(size=units))
    return MotionEncoder(*(array.astype(np.float32) for array in arrays))


def test_features_are_a_convolution_over_time():
    torch = pytest.importorskip("torch")
    encoder, frames = random_encoder(), swinging()
    kernel = torch.from_numpy(encoder.weights.reshape(5, 4, 6).transpose(0, 2, 1).copy())
    whole = torch.from_numpy(frames.T[None].astype(np.float32))
    expected = torch.relu(torch.nn.functional.conv1d(whole, kernel, torch.from_numpy(encoder.biases)))[0].T.numpy()
    np.testing.assert_allclose(encoder(frames), expected, rtol=1e-4, atol=1e-5)
    many = encoder(np.stack([frames, frames[::-1]]))
    np.testing.assert_allclose(many[0], expected, rtol=1e-4, atol=1e-5)
    assert encoder.width == 4
    assert many.shape == (2, 87, 5)


def test_a_gram_matrix_does_not_know_where_in_its_cycle_a_motion_begins():
    encoder = random_encoder()
    cycle = swinging(frames=100, rate=2.0 * np.pi / 20.0)
    first, later = (gram_matrix(encoder(cycle[start : start + 43])) for start in (0, 7))
    other = gram_matrix(encoder(swinging(1, 100, rate=2.0 * np.pi / 20.0)))
    assert gram_distance(first, later) < 1e-3 * gram_distance(first, other)
    np.testing.assert_allclose(gram_matrix(np.array([[1.0, 2.0], [3.0, 0.0]])), [[5.0, 1.0], [1.0, 2.0]])
    assert gram_distance(np.zeros((2, 2)), np.array([[0.0, 3.0], [4.0, 0.0]])) == pytest.approx(5.0)


def test_an_encoder_learns_to_tell_its_motions_again_and_always_the_same():
    pytest.importorskip("torch")
    from sinew.core.learn.autoencoder_training import train_encoder

    motions = [swinging(), swinging(1)]
    found = [train_encoder(motions, np.random.default_rng(3), units=16, width=5, steps=300) for _ in range(2)]
    losses = found[0][1]
    assert np.mean(losses[-10:]) < 0.3 * np.mean(losses[:10])
    for name, array in found[0][0].to_arrays().items():
        np.testing.assert_array_equal(found[1][0].to_arrays()[name], array)
    with pytest.raises(LearningFailed, match="5 frames"):
        train_encoder([swinging(frames=3)], np.random.default_rng(0), units=4, width=5, steps=1)


def test_the_same_motions_are_not_learned_twice(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    from sinew.core.learn import autoencoder_training

    monkeypatch.setattr(autoencoder_cache, "_STEPS", 5)
    trained, real = [], autoencoder_training.train_encoder

    def counted(*words, **named):
        trained.append(1)
        return real(*words, **named)

    monkeypatch.setattr(autoencoder_training, "train_encoder", counted)
    first = autoencoder_cache.load_or_train_encoder([swinging()], tmp_path)
    again = autoencoder_cache.load_or_train_encoder([swinging()], tmp_path)
    np.testing.assert_array_equal(first.weights, again.weights)
    assert len(trained) == 1
    autoencoder_cache.load_or_train_encoder([swinging() + 0.01], tmp_path)
    assert len(trained) == 2
    for path in tmp_path.glob("*.npz"):
        path.write_bytes(b"torn")
    mended = autoencoder_cache.load_or_train_encoder([swinging()], tmp_path)
    np.testing.assert_array_equal(first.weights, mended.weights)
    assert len(trained) == 3


def test_what_is_no_encoder_is_refused():
    arrays = random_encoder().to_arrays()
    assert MotionEncoder.from_arrays(arrays).units == 5
    for broken in (
        {name: array for name, array in arrays.items() if name != "mean"},
        {**arrays, "weights": arrays["weights"][:, :-1]},
        {**arrays, "biases": np.full(5, np.nan)},
    ):
        with pytest.raises(BadFile):
            MotionEncoder.from_arrays(broken)


def test_a_hash_knows_frames_and_how_they_are_learned():
    one = hash_sequences([swinging()], steps=1)
    assert one == hash_sequences([swinging().copy()], steps=1)
    assert one != hash_sequences([swinging()], steps=2)
    assert one != hash_sequences([swinging() + 1e-3], steps=1)
