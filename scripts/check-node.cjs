"use strict"
// Runs on whatever Node the machine has (also before npm ci has brought 24), so it is written for an old one.
var version = process.versions.node.split(".")
var major = Number(version[0])
var npmMajor = Number(((process.env.npm_config_user_agent || "").match(/npm\/(\d+)/) || [])[1] || 99)
var pinned = ["linux-x64", "linux-arm64", "win32-x64"].indexOf(process.platform + "-" + process.arch) >= 0
if (npmMajor < 9) {
  console.error(
    "Flyball needs npm 9 or newer to install, and this is npm " + npmMajor + ". Install Node.js 24, which brings it."
  )
  process.exit(1)
}
if (!pinned && !(major >= 24 || (major === 22 && Number(version[1]) >= 19))) {
  console.error(
    "Flyball runs on Node.js 24 (22.19 at least), and this is Node " +
      process.versions.node +
      ". npm cannot bring Node for " +
      process.platform +
      "-" +
      process.arch +
      ": please install Node.js 24 yourself."
  )
  process.exit(1)
}
