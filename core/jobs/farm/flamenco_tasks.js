// SPDX-License-Identifier: GPL-3.0-or-later
// A job type for Flamenco, written by `sinew farm export`: takes, one .blend with all of them, and frames.
// Every task writes files of its own, whole or not at all, and can be run again by itself.

function compileJob(job) {
    const settings = withDefaults(job.settings);
    requireRange(settings, "takes");
    requireRange(settings, "seed");
    requireRange(settings, "chunk_size");
    const frames = parseFrames(settings.render_frames);

    const merge = blenderTask(settings, "merge", settings.blendfile, mergeArguments(settings));
    for (let number = 1; number <= settings.takes; number++) {
        const take = blenderTask(settings, "take " + number, settings.blendfile, takeArguments(settings, number));
        merge.addDependency(take);
        job.addTask(take);
    }
    job.addTask(merge);
    for (let number = 1; number <= settings.takes; number++) {
        for (let start = 0; start < frames.length; start += settings.chunk_size) {
            const chunk = frames.slice(start, start + settings.chunk_size);
            const name = "render " + number + ": " + chunk[0] + "-" + chunk[chunk.length - 1];
            const file = settings.results + "/takes/" + number + ".blend";
            const render = blenderTask(settings, name, file, renderArguments(settings, number, chunk));
            render.addDependency(merge);
            job.addTask(render);
        }
    }
}

// What a submission leaves out is as it was exported.
function withDefaults(given) {
    const settings = {};
    for (const setting of JOB_TYPE.settings) {
        const value = given[setting.key];
        settings[setting.key] = value === undefined || value === null ? setting.default : value;
    }
    return settings;
}

// What a form keeps within its limits, a submission by a script need not.
function requireRange(settings, key) {
    const limits = JOB_TYPE.settings.find((setting) => setting.key === key).propargs;
    const value = settings[key];
    if (!Number.isInteger(value) || value < limits.min || value > limits.max) {
        throw new Error(key + " is " + value + ": give a whole number from " + limits.min + " to " + limits.max);
    }
}

// "1-3, 7" -> [1, 2, 3, 7]
function parseFrames(text) {
    const frames = [];
    for (const part of String(text).split(",")) {
        const found = /^\s*(\d{1,7})\s*(?:-\s*(\d{1,7})\s*)?$/.exec(part);
        if (String(text).trim() === "") {
            return frames;
        }
        const first = found ? Number(found[1]) : 1;
        const last = found ? Number(found[2] === undefined ? found[1] : found[2]) : 0;
        if (first > last) {
            throw new Error("render_frames is '" + text + "': write frames such as 1-120 or 1,50,100-110");
        }
        for (let frame = first; frame <= last; frame++) {
            frames.push(frame);
        }
    }
    return frames;
}

// What comes from a scene is written without braces: Flamenco would read them as its variables.
function takeArguments(settings, number) {
    const words = ["farm", "take", String(number), "--takes=" + settings.takes, "--results=" + settings.results];
    words.push("--seed=" + settings.seed, "--encoded");
    for (const [key, option] of OPTIONS) {
        words.push("--" + option + "=" + encodeURIComponent(String(settings[key])));
    }
    return ["-c", "sinew"].concat(words);
}

function mergeArguments(settings) {
    const words = ["farm", "merge", "--takes=" + settings.takes, "--into=" + settings.results + "/takes.blend"];
    return ["-c", "sinew"].concat(words, settings.results + "/takes");
}

function renderArguments(settings, number, frames) {
    return ["-o", settings.results + "/frames/" + number + "-####", "-f", frames.join(",")];
}

function blenderTask(settings, name, file, words) {
    const enabled = settings.addon ? ["--addons", settings.addon] : [];
    const task = author.Task(name, "blender");
    task.addCommand(author.Command("blender-render", {
        exe: settings.blender,
        exeArgs: "{blenderArgs}",
        argsBefore: enabled.concat("-b"),
        blendfile: file,
        args: words,
    }));
    return task;
}
