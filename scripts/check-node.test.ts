import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const script = fileURLToPath(new URL("./check-node.cjs", import.meta.url))

/** Runs the check as another Node on another machine would. */
const checkOn = (version: string, platform: string, arch: string, npm = "npm/11.0.0 node/v24.0.0") => {
  const pretend = `Object.defineProperty(process.versions, "node", { value: "${version}" });
    Object.defineProperty(process, "platform", { value: "${platform}" });
    Object.defineProperty(process, "arch", { value: "${arch}" });
    require(${JSON.stringify(script)})`
  const { status, stderr, stdout } = spawnSync(process.execPath, ["-e", pretend], {
    env: { npm_config_user_agent: npm },
    encoding: "utf8"
  })
  return { status, out: stdout, err: stderr }
}
const passes = { status: 0, out: "", err: "" }

describe("the check before an install", () => {
  it.each(["20.20.2", "12.0.0", "24.0.0"])("lets Node %s install when npm provides Node 24", (version) => {
    for (const [platform, arch] of [
      ["linux", "x64"],
      ["linux", "arm64"],
      ["win32", "x64"]
    ] as const)
      assert.deepEqual(checkOn(version, platform, arch), passes)
  })
  it("requires a new enough Node on other platforms", () => {
    for (const version of ["24.0.0", "25.0.0", "22.19.0"]) assert.deepEqual(checkOn(version, "darwin", "arm64"), passes)
    for (const version of ["22.18.0", "20.20.2", "23.11.0"]) {
      const { err, out, status } = checkOn(version, "darwin", "arm64")
      assert.deepEqual([status, out], [1, ""])
      assert.match(
        err,
        new RegExp(
          `^Flyball runs on Node\\.js 24 [^\\n]*this is Node ${version.replaceAll(".", "\\.")}\\. ` +
            `[^\\n]*please install Node\\.js 24[^\\n]*\\n$`
        )
      )
    }
  })
  it("refuses an npm that cannot read the lock file", () => {
    assert.match(
      checkOn("24.0.0", "linux", "x64", "npm/8.19.4 node/v16.0.0").err,
      /^Flyball needs npm 9 or newer to install, and this is npm 8\. [^\n]+\n$/
    )
    assert.deepEqual(checkOn("24.0.0", "linux", "x64", "yarn/1.22.0"), passes)
  })
  it("uses only syntax of old versions of Node", () =>
    assert.notMatch(readFileSync(script, "utf8"), /=>|\bconst\b|\blet\b|`|\?\.|\?\?/))
})
