"use strict"
/** What the launcher runs: the joined program where it is made from the sources as they are (decision 0014), else the sources. */
const { join } = require("node:path")
const { pathToFileURL } = require("node:url")
const { builtProgram } = require("../../../scripts/build/built.cjs")

const app = join(__dirname, "..")
import(pathToFileURL(builtProgram(app) ?? join(app, "src", "main.ts")).href)
