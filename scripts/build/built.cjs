"use strict"
/**
 * Which program a command starts: the joined one, when it was made from exactly the files that are here.
 *
 * Both launchers ask before anything else is loaded, so this is plain JavaScript and requires nothing of ours. `npm run build` writes what it reads.
 */
const { readFileSync, statSync } = require("node:fs")
const { join } = require("node:path")

/** Version of `dist/built.json`. A list in another form is no list. */
const LIST_VERSION = 1

/**
 * The joined program of the app in this folder, or null when the sources are to run: nothing was joined, or a file that was joined is another one now.
 *
 * A file is the same when its size and both its times are those that were seen when it was read (no program sets the time of the last change of a file's
 * state back), and otherwise when its SHA-256 is. Never throws: whatever is wrong with the joined program, there are the sources.
 */
function builtProgram(app) {
  try {
    const list = JSON.parse(readFileSync(join(app, "dist", "built.json"), "utf8"))
    if (list.v !== LIST_VERSION) return null
    const root = join(app, "..", "..")
    // Hundreds of them at each start: `join` would take as long as looking.
    return list.files.every((file) => isSame(`${root}/${file.path}`, file)) ? join(app, "dist", list.folder, "main.js") : null
  } catch {
    return null
  }
}

function isSame(path, { ctimeMs, mtimeMs, sha256, size }) {
  const now = statSync(path)
  if (now.size !== size) return false
  return (now.mtimeMs === mtimeMs && now.ctimeMs === ctimeMs) || digestOf(readFileSync(path)) === sha256
}

/** Loaded only where times differ: after a copy or a checkout, every file is digested at each start until the next `npm run build`. */
function digestOf(bytes) {
  return require("node:crypto").createHash("sha256").update(bytes).digest("hex")
}

module.exports = { builtProgram, LIST_VERSION }
