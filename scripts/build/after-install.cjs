"use strict"
// `npm ci` ends with this. An install does not fail because of it: without the joined programs the sources run. Written for an old Node, as check-node.cjs is.
var result = require("node:child_process").spawnSync(process.execPath, [require("node:path").join(__dirname, "main.ts")], { encoding: "utf8" })
if (result.status !== 0) {
  var lines = ((result.stderr || "") + (result.error || "")).split("\n").filter(function(line) { return /^build: |^\w*Error\b/.test(line) })
  console.error("flyball: the programs were not joined (" + (lines[0] || "status " + result.status).replace("build: ", "") + "), so they run from their sources and start slower. npm run build tries again.")
}
