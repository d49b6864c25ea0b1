/**
 * Witnessing over HTTP, durable, against bare node:http with the same inserts: batches of 100, and single decisions at
 * 64 connections. Design section 6.
 */
import { decisionsFrom } from "./decisions.ts"
import { alternate, type Benchmark, figure, type Line } from "./harness.ts"
import { besideBare, CONNECTIONS, Connections } from "./server-process.ts"

const ROUNDS = 5
/**
 * Decisions before the first round, to both servers: a server runs for weeks, and until then V8's compiling threads
 * take the cores that the load needs (see `http.ts`).
 */
const WARM_UP = 32_000

/** Where decisions go. */
interface Target {
  readonly path: string
  readonly connections: Connections
}

const witness = ({ connections, path }: Target, bodies: ReadonlyArray<Uint8Array>): Promise<void> =>
  connections.load(bodies.map((body) => ({ method: "POST", path, body })))

const bodiesOf = (size: number) => {
  let made = 0
  return (requests: number): ReadonlyArray<Uint8Array> =>
    Array.from({ length: requests }, () => {
      const decisions = decisionsFrom(made, size)
      made += size
      return Buffer.from(JSON.stringify(size === 1 ? decisions[0] : { decisions }))
    })
}

const measure = (name: string, requests: number, size: number, goal: number): Promise<Line> =>
  besideBare("./bare-server.ts", async ({ agent, bare, key, server }) => {
    const subject: Target = {
      path: `/api/v1/agents/${agent.id}/decisions`,
      connections: new Connections({ port: server.port, headers: { authorization: `Bearer ${key}` } })
    }
    const limit: Target = { path: "/", connections: new Connections({ port: bare.port, headers: {} }) }
    const subjectBodies = bodiesOf(size)
    const limitBodies = bodiesOf(size)
    for (const [target, bodies] of [
      [limit, limitBodies],
      [subject, subjectBodies]
    ] as const)
      await witness(target, bodies(WARM_UP / size))
    // All bodies are made before the clock starts: one set a round, and one for the pair that is not counted.
    const forLimit = Array.from({ length: ROUNDS + 1 }, () => limitBodies(requests))
    const forSubject = Array.from({ length: ROUNDS + 1 }, () => subjectBodies(requests))
    const { limitMs, ratio, subjectMs } = await alternate(
      ROUNDS,
      () => witness(limit, forLimit.pop()!),
      () => witness(subject, forSubject.pop()!)
    )
    subject.connections.close()
    limit.connections.close()
    const rate = (ms: number): number => figure(((requests * size) / ms) * 1_000)
    return {
      name,
      value: rate(subjectMs),
      unit: "decisions/s",
      limit: rate(limitMs),
      ratio: figure(ratio),
      goal: `ratio >= ${goal}`,
      met: ratio >= goal
    }
  })

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "witness",
  about:
    `${CONNECTIONS} connections to a server process on SQLite, against bare node:http with the same ` +
    "inserts, load from this process",
  run: async () => {
    return [await measure("witness.batch_100", 300, 100, 0.5), await measure("witness.single", 16_000, 1, 0.3)]
  }
}
