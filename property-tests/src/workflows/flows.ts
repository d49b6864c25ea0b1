/** Executions of one process over a store, with the agents of their steps behind loopback HTTP. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import {
  Agents,
  capabilityJobs,
  Envelopes,
  governorLayer,
  keysLayerOf,
  layerOf,
  type Storage,
  systemHost
} from "@flyball/core"
import { dataFolder, webhookSender } from "@flyball/node"
import type { WorkflowCreate } from "@flyball/contract"
import { Effect, Exit, Layer, Scope } from "effect"
import { platform } from "../../../packages/platform/src/index.ts"
import { Workflows } from "../../../packages/platform/src/workflows/service.ts"
import { type StoreAt, storageAt } from "../crash/store-at.ts"
import { ENVELOPE, UNIT } from "./crash-world.ts"

/** Executions at once. */
const CAP = 100_000
const ann = { id: `usr_${"0".repeat(25)}1` }
const ben = { id: `usr_${"0".repeat(25)}2` }
export const cem = { id: `usr_${"0".repeat(25)}3` }

/** An execution as it is shown. */
export type Shown = Effect.Success<ReturnType<Workflows["Service"]["get"]>>

/** A governor over a store; where it does not run executions, others have to. */
export const flowsLayer = (at: StoreAt, dir: string, runsExecutions: boolean) => {
  const capabilities = [platform()]
  return (runsExecutions ? capabilityJobs(capabilities) : Layer.empty).pipe(
    Layer.provideMerge(governorLayer({ capabilities })),
    Layer.provideMerge(layerOf(storageAt(at))),
    Layer.provide(webhookSender({ egressAllow: ["127.0.0.1"], allowHttp: true })),
    Layer.provide(keysLayerOf(dataFolder({ dir })))
  ) as Layer.Layer<Agents | Envelopes | Storage | Workflows, unknown>
}

/** Opens a store with an active agent. `onCall` sees each request of a step, by its idempotency key. */
export const openFlows = async (at: StoreAt, dir: string, onCall: (key: string) => void, runsExecutions = true) => {
  const agents = createServer((request, response) => {
    request.resume().on("end", () => {
      onCall(String(request.headers["idempotency-key"]).replaceAll('"', ""))
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  await new Promise<void>((resolve) => agents.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(agents.address() as AddressInfo).port}`
  const scope = Scope.makeUnsafe()
  const services = await Effect.runPromise(Layer.buildWithScope(flowsLayer(at, dir, runsExecutions), scope))
  const run = <A, E>(effect: Effect.Effect<A, E, Agents | Envelopes | Storage | Workflows>): Promise<A> =>
    Effect.runPromiseWith(services)(effect)
  const agentId = await run(
    Effect.gen(function* () {
      const [agents, envelopes] = [yield* Agents, yield* Envelopes]
      const owner = { owner_name: "Ada", owner_email: "ada@example.org" }
      const { agent } = yield* agents.register({ name: "clerk", org_unit: UNIT, ...owner }, systemHost)
      const made = yield* envelopes.create({ name: "calls", agent_id: agent.id, envelope: ENVELOPE }, systemHost)
      yield* envelopes.publish(made.id, {}, ben)
      yield* agents.update(agent.id, { autonomy_tier: "L2" }, ben)
      yield* agents.activate(agent.id, ben)
      return agent.id
    })
  )
  const call = (id: string) => ({
    id,
    type: "agent" as const,
    agent: agentId,
    signals: { amount: 1 },
    request: { url: `${url}/${id}`, method: "POST" as const, body: {} }
  })
  return {
    run,
    call,
    ask: { id: "ok", type: "approval" as const, title: "Go on?" },
    workflow: async (steps: WorkflowCreate["steps"]): Promise<string> =>
      (await run(Workflows.use((flows) => flows.create(UNIT, { name: "loaded", steps }, systemHost)))).id,
    start: async (workflow: string): Promise<string> =>
      (await run(Workflows.use((flows) => flows.start(UNIT, workflow, {}, { writer: ann, cap: CAP })))).id,
    get: (id: string): Promise<Shown> => run(Workflows.use((flows) => flows.get(UNIT, id))),
    /** Answers what waits; the code of the refusal where it is refused. */
    decide: (id: string, approvalId: string, approved: boolean, writer = ben): Promise<string | null> =>
      run(
        Workflows.use((flows) =>
          flows.decide(UNIT, id, { approved, approval_id: approvalId }, { writer, roles: ["reviewer"] })
        ).pipe(
          Effect.as(null),
          Effect.catch((refusal) => Effect.succeed(refusal._tag as string))
        )
      ),
    close: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      agents.closeAllConnections()
      await new Promise((resolve) => agents.close(resolve))
    }
  }
}
