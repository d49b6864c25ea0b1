import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import type { Settings } from "../../settings/read.ts"
import { actOverControl } from "./call-control.ts"
import { controlPath, type HostAct, MAX_REQUEST } from "./protocol.ts"
import { serveControl } from "./serve-control.ts"

const folder = mkdtempSync(join(tmpdir(), "control-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0
/** Settings of a data folder of its own. */
const fresh = () => {
  const dataDir = mkdtempSync(join(folder, `${count++}-`))
  const settings = { dataDir, database: { kind: "sqlite", file: join(dataDir, "s.db") } } as unknown as Settings
  return { settings, path: controlPath(settings)!, store: resolve(dataDir, "s.db") }
}

const halt: HostAct = { command: "halt", named: { type: "deployment" }, response: "halt", reason: "r", json: false }
const logged: Array<string> = []
const log = (_: string, message: string): void => void logged.push(message)

const serving = async (
  act: (act: HostAct) => Promise<string> = (one) => Promise.resolve(JSON.stringify(one)),
  more: { readonly store?: string } = {}
) => {
  const world = fresh()
  const control = await serveControl(world.path, more.store ?? world.store, act, log)
  assert.isNotNull(control)
  return { ...world, control: control! }
}

/** Sends bytes as they are; answers all that comes back. */
const raw = (path: string, text: string): Promise<string> =>
  new Promise((done) => {
    let got = ""
    const socket = connect(path, () => void socket.end(text))
    socket.setEncoding("utf8").on("data", (chunk: string) => (got += chunk))
    socket.on("error", () => undefined).on("close", () => done(got))
  })

describe("the control socket", () => {
  it("does acts of its own account, and answers what to print or why not", async () => {
    const { control, path, settings } = await serving((act) =>
      act.command === "halt" ? Promise.resolve("halted\nall") : Promise.reject(new Error("It was released before."))
    )
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    assert.strictEqual(await actOverControl(settings, halt), "halted\nall")
    const failed = await actOverControl(settings, { command: "release", id: "kil_x", reason: "r", json: false }).then(
      () => "none",
      (cause: Error) => cause.message
    )
    assert.strictEqual(failed, "It was released before.")
    await control.close()
    assert.isFalse(existsSync(path))
    assert.isNull(await actOverControl(settings, halt))
  })

  it("does nothing for what is no act, or means another store", async () => {
    const done: Array<HostAct> = []
    const act = (one: HostAct) => Promise.resolve(String(done.push(one)))
    const other = await serving(act, { store: "/another.db" })
    assert.isNull(await actOverControl(other.settings, halt))
    await other.control.close()
    const { control, path, store } = await serving(act)
    const requestOf = (more: object, of: object = {}) =>
      JSON.stringify({ v: 1, store, act: { ...halt, ...more }, ...of })
    for (const line of [
      "",
      "halt",
      "null",
      requestOf({}, { v: 2 }),
      requestOf({ command: "erase" }),
      requestOf({ reason: "" }),
      requestOf({ reason: " " }),
      requestOf({ response: "stop" }),
      requestOf({ named: { type: "agent" } }),
      requestOf({ actor: "usr_x" }),
      requestOf({}, { actor: "usr_x" }),
      requestOf({ named: { type: "deployment", agent: "billing" } }),
      requestOf({ named: { type: "agent", agent: "billing", model: "gpt-x" } }),
      requestOf({}, { act: { command: "checkpoint", reason: "r" } }),
      requestOf({}, { act: { command: "rotate_key", reason: "r" } }),
      requestOf({}, { act: { command: "mapping", mapping: { rules: [{}] } } }),
      requestOf({}, { act: { command: "mapping", mapping: { rules: [], writer: "usr_x" } } }),
      requestOf({}, { act: { command: "release", id: "kil_x", reason: "r", json: false, named: halt.named } }),
      requestOf({}).replace('"store":', '"store":"/another.db","store":'),
      "x".repeat(MAX_REQUEST * 2)
    ]) {
      const answer = await raw(path, `${line}\n`)
      if (answer !== "") assert.match(JSON.parse(answer).failed, /does not know this command/, line.slice(0, 100))
    }
    assert.strictEqual(await raw(path, requestOf({})), "", "without the end of the line")
    assert.deepStrictEqual(done, [])
    assert.strictEqual(JSON.parse(await raw(path, `${requestOf({})}\n`)).out, "1")
    await control.close()
  })

  it("replaces what a killed server left, and leaves alone what another process answers at", async () => {
    const { control, path, settings } = await serving()
    assert.isNull(await serveControl(path, "x", () => Promise.resolve(""), log))
    assert.match(logged.at(-1)!, /^no control socket/)
    assert.isString(await actOverControl(settings, halt))
    await control.close()
    const left = fresh()
    writeFileSync(left.path, "")
    const again = await serveControl(left.path, left.store, () => Promise.resolve("done"), log)
    assert.strictEqual(await actOverControl(left.settings, halt), "done")
    await again!.close()
  })

  it("finishes what is under way when it closes", async () => {
    let finish: (text: string) => void = () => undefined
    const begun = Promise.withResolvers<void>()
    const { control, settings } = await serving(() => {
      begun.resolve()
      return new Promise((done) => (finish = done))
    })
    const acting = actOverControl(settings, halt)
    await begun.promise
    const closed = control.close()
    finish("done")
    assert.strictEqual(await acting, "done")
    await closed
  })

  it("that ends before it answers leaves the caller with what to check", async () => {
    const { path, settings } = fresh()
    const dying = createServer((socket) => socket.destroy())
    await new Promise<void>((done) => dying.listen(path, done))
    const said = await actOverControl(settings, halt).then(
      () => "none",
      (cause: Error) => cause.message
    )
    assert.match(said, /^the running server ended before it answered, .*flyball kill-status shows it$/)
    const rotated = await actOverControl(settings, { command: "rotate_key" }).catch((cause: Error) => cause.message)
    assert.match(String(rotated), /^the running server ended before it answered, .*flyball vkey shows it$/)
    await new Promise((done) => dying.close(done))
  })

  it("has a path that is short enough, or none", () => {
    const long = { dataDir: join(process.cwd(), "x".repeat(90)) }
    assert.strictEqual(controlPath({ dataDir: join(process.cwd(), "d") })!.endsWith("control.sock"), true)
    assert.strictEqual(controlPath(long), join("x".repeat(90), "control.sock"))
    assert.isNull(controlPath({ dataDir: join(tmpdir(), "x".repeat(120)) }))
  })
})
