"use strict"
/** What the launcher runs: the sources where they are, so that no edit is missed; else the bundle (decision 0014). */
const { existsSync } = require("node:fs")
const { join } = require("node:path")
const { pathToFileURL } = require("node:url")

const sources = join(__dirname, "..", "src", "main.ts")
import(pathToFileURL(existsSync(sources) ? sources : join(__dirname, "..", "dist", "main.js")).href)
