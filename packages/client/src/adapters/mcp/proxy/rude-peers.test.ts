/** The proxy on stdio between a server and a client that break the rules. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { PassThrough } from "node:stream"
import { fileURLToPath } from "node:url"
import { afterEach, assert, describe, it } from "vitest"
import { governedAgent, until } from "../../testing/governed-agent.ts"
import { serveService } from "../../testing/serve-service.ts"
import { governCalls } from "../calls.ts"
import { limitWaiting } from "../waiting-limit.ts"
import { hostileMessages } from "../testing/hostile-messages.ts"
import { governChild } from "./stdio.ts"

const proxy = fileURLToPath(new URL("main.ts", import.meta.url))
const rude = fileURLToPath(new URL("../testing/rude-server.ts", import.meta.url))

const endings: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end()
})

/** The proxy as a process in front of the server. */
const start = async (options: ReadonlyArray<string> = []) => {
  const service = await serveService()
  endings.push(service.close)
  const child = spawn(process.execPath, [proxy, "--agent", "bot", ...options, "--", process.execPath, rude], {
    env: { ...process.env, FLYBALL_URL: service.url, FLYBALL_KEY: "k", NODE_NO_WARNINGS: "1" }
  })
  const exited = once(child, "exit")
  endings.push(() => (child.kill("SIGKILL"), exited))
  const said = { out: "", err: "" }
  child.stdout.on("data", (piece: Buffer) => (said.out += piece.toString()))
  child.stderr.on("data", (piece: Buffer) => (said.err += piece.toString()))
  await until(() => said.err.includes("pid "))
  const pid = Number(/pid (\d+)/.exec(said.err)![1])
  // oxlint-disable-next-line no-explicit-any
  const messages = (): ReadonlyArray<any> =>
    said.out
      .split("\n")
      .slice(0, -1)
      .flatMap((line) => {
        try {
          return [JSON.parse(line)]
        } catch {
          return [line]
        }
      })
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  const call = (id: number, name: string): void => send({ id, method: "tools/call", params: { name, arguments: {} } })
  const outcomes = (): ReadonlyArray<string> => service.decisions().map(({ action, status }) => `${action} ${status}`)
  return { ...service, child, exited, said, pid, messages, send, call, outcomes }
}

/** True while a process is there. */
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Most memory that a process ever had. Unit: bytes. */
const peakMemory = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1_024

describe("a server that", () => {
  it("is killed while a call runs ends the proxy with its signal, and the call is witnessed as failed", async () => {
    const { call, exited, outcomes, said } = await start()
    call(1, "hang")
    await until(() => said.err.includes("ran hang"))
    call(2, "die")
    assert.deepStrictEqual(await exited, [128 + 9, null])
    assert.sameMembers([...outcomes()], ["hang error", "die error"])
    assert.strictEqual(said.out, "")
  })

  it("answers twice is believed once", async () => {
    const { call, messages, outcomes, send } = await start()
    call(1, "twice")
    await until(() => messages().length === 1)
    // The server answers the call once more before it answers this.
    send({ id: 2, method: "ping" })
    await until(() => messages().some(({ id }) => id === 2) && outcomes().length === 1)
    assert.deepStrictEqual(
      messages().map(({ id, result }) => [id, result.content?.[0].text]),
      [
        [1, "first"],
        [2, undefined]
      ]
    )
    assert.deepStrictEqual(outcomes(), ["twice ok"])
  })

  it("writes what is no message has it dropped and said, and its next answer counts", async () => {
    const { call, messages, said } = await start()
    call(1, "garble")
    await until(() => messages().length === 1)
    assert.strictEqual(messages()[0].result.content[0].text, "after what is no JSON")
    assert.lengthOf(said.err.match(/what is no MCP message; it was dropped: no JSON object\n/g)!, 3)
    assert.lengthOf(said.out.split("\n"), 2)
  })

  it("answers with what cannot be read gets an error in its place, and the call is witnessed as failed", async () => {
    const { call, messages, outcomes } = await start()
    call(1, "mangle")
    await until(() => messages().length === 1)
    assert.deepInclude(messages()[0], { id: 1 })
    assert.match(messages()[0].error.message, /could not be read: neither a request nor an answer/)
    await until(() => outcomes().length === 1)
    assert.deepStrictEqual(outcomes(), ["mangle error"])
  })

  it("answers with a line that is too long is said to, and other calls continue", async () => {
    const { call, child, messages, outcomes, said, send } = await start()
    call(1, "flood")
    await until(() => said.err.includes("too long"))
    call(2, "answer")
    await until(() => messages().length === 1)
    assert.strictEqual(messages()[0].result.content[0].text, "answered")
    // The client's own time limit ends the call that has no answer.
    send({ method: "notifications/cancelled", params: { requestId: 1 } })
    await until(() => outcomes().length === 2)
    assert.deepStrictEqual(outcomes(), ["answer ok", "flood error"])
    assert.isBelow(peakMemory(child.pid!), 400 * 1_048_576)
  })

  it("answers with what nests deeper than anybody writes has it passed on as it came", async () => {
    const { call, messages, outcomes } = await start()
    call(1, "nest")
    await until(() => messages().length === 1 && outcomes().length === 1)
    assert.isArray(messages()[0].result.a)
    assert.deepStrictEqual(outcomes(), ["nest ok"])
  })

  it("answers with digits that no double has is passed on byte for byte, and the record is marked", async () => {
    const { call, decisions, said } = await start()
    call(1, "digits")
    await until(() => decisions().length === 1)
    const result = '{"structuredContent":{"id":1915883588174806058,"f":1.10,"e":1E400},"content":[]}'
    assert.strictEqual(said.out, `{ "jsonrpc":"2.0", "id":1, "result": ${result} }\r\n`)
    assert.deepInclude(decisions()[0], { action: "digits", status: "ok" })
    assert.deepInclude(decisions()[0].result, { withheld: "inexact_number", bytes: result.length })
  })
})

describe("a proxy that is killed while a call runs", () => {
  it("leaves no server behind, and the call in the record where that is strict", async () => {
    for (const record of ["strict", "spool"]) {
      const { call, child, exited, outcomes, pid, said, seen } = await start(["--record", record])
      call(1, "hang")
      await until(() => said.err.includes("ran hang"))
      child.kill("SIGKILL")
      await exited
      await until(() => !isAlive(pid))
      assert.deepStrictEqual(outcomes(), record === "strict" ? ["hang intended"] : [])
      // What was judged is in the record in any case.
      assert.lengthOf(
        seen.filter(({ path }) => path.endsWith("/evaluations")),
        1
      )
    }
  })
})

describe("a client that", () => {
  it("sends a line that is too long is answered, and no more of it is kept than a message may have", async () => {
    const { child, messages, send } = await start()
    const piece = Buffer.alloc(1_048_576, "x")
    for (let sent = 0; sent < 384; sent++) if (!child.stdin.write(piece)) await once(child.stdin, "drain")
    child.stdin.write("\n")
    send({ id: 1, method: "ping" })
    await until(() => messages().length === 2)
    assert.deepStrictEqual(
      messages().map(({ error, id }) => [id, error?.code]),
      [
        [null, -32_600],
        [1, undefined]
      ]
    )
    assert.isBelow(peakMemory(child.pid!), 300 * 1_048_576)
  })

  it("sends what is nested too deeply is answered", async () => {
    const { child, messages } = await start()
    const deep = "[".repeat(50_000) + "]".repeat(50_000)
    child.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${deep}}}\n`)
    const params = `{"name":"answer","arguments":{"a":${deep}}}`
    child.stdin.write(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":${params}}\n`)
    await until(() => messages().length === 2)
    const [ping, call] = messages().toSorted((a, b) => a.id - b.id)
    assert.strictEqual(ping.error.code, -32_603)
    assert.match(call.result.content[0].text, /^The call did not run/)
  })

  it("sends its calls and the end of its input at once gets every answer", async () => {
    const { call, child, exited, messages, said } = await start()
    call(1, "answer")
    call(2, "answer")
    child.stdin.end()
    assert.deepStrictEqual(await exited, [0, null])
    assert.sameMembers(
      messages().map(({ id }) => id),
      [1, 2]
    )
    assert.include(said.err, "end of input")
  })

  it("is gone while a call runs leaves nothing running, and the call is witnessed as failed", async () => {
    const { call, child, exited, outcomes, pid, said } = await start()
    call(1, "hang")
    await until(() => said.err.includes("ran hang"))
    child.stdin.destroy()
    child.stdout.destroy()
    await exited
    assert.isFalse(isAlive(pid))
    assert.deepStrictEqual(outcomes(), ["hang error"])
  })

  it("is gone ends a server that continues, first by SIGTERM and then by SIGKILL", async () => {
    const { agent, client, witnessed } = await governedAgent()
    endings.push(() => client.close())
    const calls = governCalls(agent, {})
    const input = new PassThrough()
    const output = new PassThrough()
    const said: Array<string> = []
    let pid = 0
    const ended = governChild({
      command: process.execPath,
      args: [
        "-e",
        `const say = (method) => console.log(JSON.stringify({ jsonrpc: "2.0", method }))
         process.on("SIGTERM", () => say("termed")); say("pid." + process.pid); setInterval(() => 0, 1e6)`
      ],
      env: process.env,
      session: { calls: () => Promise.resolve(calls), close: () => Promise.resolve() },
      input,
      output,
      log: (line) => void said.push(line),
      onSignals: () => undefined,
      graceMs: { toEnd: 50, toKill: 50 }
    })
    let text = ""
    output.on("data", (piece: Buffer) => {
      text += piece.toString()
      pid = Number(/pid.(\d+)/.exec(text)?.[1] ?? 0)
    })
    await until(() => pid !== 0)
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "hang" } })}\n`)
    input.end()
    assert.deepStrictEqual(await ended, { signal: "SIGKILL" })
    assert.include(text, "termed")
    assert.isFalse(isAlive(pid))
    assert.deepStrictEqual(
      (await witnessed()).map(({ status }) => status),
      ["error"]
    )
  })

  it("sends what can be read in two ways reaches the server as it was judged, or not at all", async () => {
    const { agent, client, script } = await governedAgent()
    endings.push(() => client.close())
    script.verdict = ({ action }) => (action === "refund" ? "deny" : "allow")
    const calls = governCalls(agent, {})
    const input = new PassThrough()
    const output = new PassThrough()
    // It says each line that it gets, and answers it.
    const echo = `require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
      console.log(JSON.stringify({ jsonrpc: "2.0", method: "got", params: { line } }))
      console.log(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).id, result: {} }))
    })`
    const ended = governChild({
      command: process.execPath,
      args: ["-e", echo],
      env: process.env,
      session: { calls: () => Promise.resolve(calls), close: () => Promise.resolve() },
      input,
      output,
      log: () => undefined,
      onSignals: () => undefined
    })
    const messages = output.toArray()
    for (const { bytes } of hostileMessages) input.write(Buffer.concat([bytes, Buffer.from("\n")]))
    input.end()
    assert.deepStrictEqual(await ended, { code: 0 })
    output.end()
    const said = Buffer.concat(await messages)
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.sameMembers(
      said.flatMap(({ method, params }) => (method === "got" ? [params.line] : [])),
      hostileMessages.flatMap(({ sent }) => (sent === null ? [] : [sent]))
    )
    assert.sameMembers(
      said.flatMap(({ error, method, result }) =>
        method === undefined ? [error?.code ?? (result.isError === true ? "denied" : null)] : []
      ),
      hostileMessages.map(({ answer }) => answer)
    )
  })
})

describe("a client that sends more requests than may wait", () => {
  it("is refused what is too much, and continues once something is answered", async () => {
    const { agent, client, resolve, script, waits, witnessed } = await governedAgent()
    endings.push(() => client.close())
    script.verdict = ({ action }) => (action === "refund" ? "require_review" : "allow")
    const calls = governCalls(agent, {})
    const input = new PassThrough()
    const output = new PassThrough()
    const ended = governChild({
      command: process.execPath,
      args: [rude],
      env: process.env,
      session: { calls: () => Promise.resolve(calls), close: () => Promise.resolve() },
      input,
      output,
      log: () => undefined,
      onSignals: () => undefined,
      waitingLimit: limitWaiting(2, 1_000)
    })
    let text = ""
    output.on("data", (piece: Buffer) => (text += piece.toString()))
    // oxlint-disable-next-line no-explicit-any
    const answerTo = (id: number): any =>
      text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line))
        .find((one) => one.id === id)
    const send = (id: number, method: string, params: object): void =>
      void input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
    const call = (id: number, name: string): void => send(id, "tools/call", { name, arguments: { id } })
    call(1, "refund")
    call(2, "hang")
    await until(() => waits() === 1)
    call(3, "refund")
    send(4, "ping", {})
    await until(() => answerTo(3) !== undefined && answerTo(4) !== undefined)
    assert.deepStrictEqual([answerTo(3).error.code, answerTo(4).error.code], [-32_005, -32_005])
    // A notification needs no answer and takes no place: one of the two requests is given up.
    input.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n')
    let id = 10
    do {
      send(++id, "ping", {})
      await until(() => answerTo(id) !== undefined)
    } while (answerTo(id).error !== undefined)
    send(5, "ping", { text: "x".repeat(1_000) })
    await until(() => answerTo(5) !== undefined)
    assert.strictEqual(answerTo(5).error?.code, -32_005, "too many bytes")
    for (const one of [6, 7]) {
      send(one, "ping", {})
      await until(() => answerTo(one) !== undefined)
      assert.deepStrictEqual(answerTo(one).result, {})
    }
    resolve("rev_1", "reject")
    await until(() => answerTo(1) !== undefined)
    input.end()
    await ended
    assert.sameMembers(
      (await witnessed()).map(({ action, status }) => `${action} ${status}`),
      ["hang error", "refund denied"]
    )
  })

  it("accepts 1,000 waiting requests of 256 MiB in all", () => {
    const waitingLimit = limitWaiting()
    for (let count = 0; count < 1_000; count++) assert.isNotNull(waitingLimit.enter(1))
    assert.isNull(waitingLimit.enter(0))
    const wide = limitWaiting()
    const place = wide.enter(64 * 1_048_576)!
    assert.isTrue(place.grow(192 * 1_048_576))
    assert.isFalse(place.grow(1))
    assert.isNull(wide.enter(1))
    place.leave()
    place.leave()
    assert.isNotNull(wide.enter(256 * 1_048_576))
    assert.isNull(wide.enter(1))
  })
})
