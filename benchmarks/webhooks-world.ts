/** A governor with webhooks in this process, as a host has it, and receivers in another. */
import {
  deliveryEngine,
  EvidenceCrypto,
  governorLayer,
  keysLayerOf,
  layerOf,
  Storage,
  type StorageChoice,
  systemHost,
  Webhooks
} from "@flyball/core"
import { nodeCrypto } from "@flyball/evidence/node"
import { dataFolder, logMailer, memorySecretBox, webhookSender } from "@flyball/node"
import { Layer, ManagedRuntime } from "effect"
import type { Running } from "./server-process.ts"

/** Receivers of one event. */
export const WEBHOOKS = 100

/** Sender and store in this process, with so many webhooks of which the first may lead into a hole. */
export const openWorld = async (storage: StorageChoice, keysDir: string, receivers: Running, hole: boolean) => {
  const base = governorLayer({ origin: "flyball.example/bench" }).pipe(
    Layer.provideMerge(
      Layer.mergeAll(webhookSender({ egressAllow: ["127.0.0.1"], allowHttp: true }), memorySecretBox, logMailer)
    ),
    Layer.provideMerge(layerOf(storage)),
    Layer.provide(keysLayerOf(dataFolder({ dir: keysDir, origin: "flyball.example/bench" })))
  )
  const runtime = ManagedRuntime.make(base)
  const context = await runtime.context()
  const { ports } = await report(receivers)
  for (let index = 0; index < WEBHOOKS; index++) {
    const url = `http://127.0.0.1:${hole && index === 0 ? ports.at(-1)! : ports[index]!}/`
    await runtime.runPromise(
      Webhooks.use((webhooks) => webhooks.create({ url, events: ["agent.registered"] }, systemHost))
    )
  }
  return {
    happened: () =>
      runtime.runPromise(Storage.use((store) => store.commit({ events: [{ type: "agent.registered", data: {} }] }))),
    /** Starts the engine, with the hashes that a data folder brings; the answer stops it. */
    send: async () => {
      const engine = ManagedRuntime.make(
        deliveryEngine({ drainMs: 6_000 }).pipe(
          Layer.provide(Layer.succeed(EvidenceCrypto, nodeCrypto)),
          Layer.provide(Layer.succeedContext(context))
        )
      )
      await engine.context()
      return () => engine.dispose()
    },
    close: () => runtime.dispose()
  }
}

/**
 * Where the receivers are, the hole the last of them, and how late each delivery came since the last report. Unit:
 * milliseconds.
 */
export const report = async (
  receivers: Running
): Promise<{ readonly ports: ReadonlyArray<number>; readonly delaysMs: ReadonlyArray<number> }> =>
  (await (await fetch(`http://127.0.0.1:${receivers.port}/`)).json()) as {
    readonly ports: ReadonlyArray<number>
    readonly delaysMs: ReadonlyArray<number>
  }
