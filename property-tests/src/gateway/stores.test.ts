/** The gateway on Postgres: verdicts, a halt in the midst of a stream, and a process that is killed. */
import { governorLayer, type GovernorServices, keysLayerOf, layerOf, Storage } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { postgresStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer, ManagedRuntime } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, it } from "vitest"
import { Gateway } from "../../../packages/platform/src/gateway/service.ts"
import { platform } from "../../../packages/platform/src/index.ts"
import { events, json, openWorld } from "./world.ts"

const database = givenDatabase({ beforeAll, afterAll })
const dir = mkdtempSync(join(tmpdir(), "flyball-gateway-"))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const request = { model: "m", messages: [{ role: "user" as const, content: "Hi" }], max_tokens: 500 }
const of = { id: "c1", created: 1, model: "m" }
const call = (name: string) => ({ id: `call_${name}`, type: "function", function: { name, arguments: "{}" } })

/** A process for which a minute has passed, so that one that renewed no lease since is gone. It only sweeps. */
const sweeper = () => {
  const ahead = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) => ({
      ...storage,
      asOf: Effect.map(storage.asOf, ({ ms, seq }) => ({ ms: ms + 60_000, seq })),
      // A lease that ends more than twice this from now has run out.
      lease: (name: string, holder: string) => storage.lease(name, holder, 1)
    }))
  ).pipe(Layer.provide(layerOf(postgresStorage({ url: database.url }))))
  return ManagedRuntime.make(
    governorLayer({ capabilities: [platform({ gateway: { upstreams: [] } })] }).pipe(
      Layer.provide(ahead),
      Layer.provide(keysLayerOf(dataFolder({ dir })))
    ) as Layer.Layer<GovernorServices | Storage | Gateway, unknown>
  )
}

it("governs answers, and settles once what a killed process began", async () => {
  const host = { storage: postgresStorage({ url: database.url }), keys: dataFolder({ dir }) }
  const world = await openWorld({}, { ...host, idleMs: 60_000 })
  const close: Array<() => Promise<void>> = [world.close]
  try {
    const usage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 }
    const message = { role: "assistant", content: "Hello", tool_calls: ["read", "pay"].map(call) }
    const choice = { index: 0, message, finish_reason: "tool_calls" }
    world.script = json({ ...of, object: "chat.completion", choices: [choice], usage })
    const answer = await world.openai.chat.completions.create(request)
    assert.deepStrictEqual([answer.choices[0]!.message.tool_calls!.length, await world.usage()], [1, 42])

    const begun = { index: 0, delta: { role: "assistant", content: "Hello " }, finish_reason: null }
    const chunk = { ...of, object: "chat.completion.chunk", choices: [begun] }
    world.script = events(chunk, () => new Promise(() => undefined))
    const stream = await world.openai.chat.completions.create({ ...request, stream: true })
    const stop = { target_type: "agent", target_id: world.agentId, reason: "stop" } as never
    let [finish, halt]: [string | null, ReturnType<typeof world.governor.kill.activate> | null] = [null, null]
    for await (const { choices } of stream) {
      finish = choices[0]?.finish_reason ?? finish
      halt ??= world.governor.kill.activate(stop)
    }
    const { activation_event } = (await halt)!
    await world.governor.kill.release({ activation_event, reason: "on" } as never, world.reviewer)
    const [, , , cut] = await world.decisions()
    const before = await world.usage()
    assert.deepStrictEqual([finish, cut!.status], ["content_filter", "denied"])
    assert.strictEqual(before, 42 + cut!.usage!.input_tokens! + 2)

    const reached = new Promise<void>((resolve) => (world.script = () => resolve()))
    const program = fileURLToPath(new URL("./calling-process.ts", import.meta.url))
    const args = [program, database.url, dir, world.upstream, world.modelId, world.key, world.agentId]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] })
    const gone = new Promise((resolve) => child.on("close", resolve))
    await Promise.race([reached, gone])
    child.kill("SIGKILL")
    await gone
    const reserved = (await world.usage()) - before
    assert.deepStrictEqual([reserved > 500, (await world.decisions()).length], [true, 4])

    const sweepers = [sweeper(), sweeper()]
    close.push(...sweepers.map((one) => () => one.dispose()))
    for (const _ of [1, 2]) await Promise.all(sweepers.map((one) => one.runPromise(Gateway.use(({ sweep }) => sweep))))
    const [, , , , lost, ...more] = await world.decisions()
    const { input_tokens: input, output_tokens: output } = lost!.usage!
    assert.deepStrictEqual([lost!.status, input! + output!, more], ["unknown", reserved, []])
    assert.strictEqual(await world.usage(), before + reserved)
    assert.deepStrictEqual((await world.governor.check()).differences, [])
  } finally {
    for (const one of close.toReversed()) await one()
  }
}, 120_000)
