#!/usr/bin/env node
"use strict"
/** What the launcher runs: the sources where they are, so that no edit is missed; else the bundle (decision 0014). */
const { existsSync } = require("node:fs")
const { join } = require("node:path")
const { pathToFileURL } = require("node:url")

const [major, minor] = process.versions.node.split(".").map(Number)
if (major >= 24 || (major === 22 && minor >= 19)) {
  const sources = join(__dirname, "..", "src", "main.ts")
  import(pathToFileURL(existsSync(sources) ? sources : join(__dirname, "..", "dist", "main.js")).href)
} else {
  // npm starts this file without the launcher, in whatever Node there is.
  console.error(`flyball: Node.js 24 (or 22.19 and newer of 22) is needed, and this is ${process.version}.`)
  process.exitCode = 1
}
