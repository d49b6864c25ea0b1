/**
 * `npm run slow -- NAME …`: proofs that take too long for every run. Their last results are in benchmarks/RESULTS.md.
 */
const proofs: {
  readonly [name: string]: () => Promise<{ readonly run: (args: ReadonlyArray<string>) => Promise<boolean> }>
} = {
  client: () => import("./client.ts"),
  connections: () => import("./connections.ts"),
  documents: () => import("./documents.ts"),
  differential: () => import("../../benchmarks/envelopes-rivals/differential.ts"),
  drift: () => import("./drift.ts"),
  executions: () => import("./executions.ts"),
  gateway: () => import("./gateway.ts"),
  diskfull: () => import("./diskfull.ts"),
  idempotency: () => import("./idempotency.ts"),
  kills: () => import("./kills.ts"),
  lists: () => import("./lists.ts"),
  monitoring: () => import("./monitoring.ts"),
  readers: () => import("./readers.ts"),
  servers: () => import("./servers.ts"),
  simulation: () => import("./simulation.ts"),
  telemetry: () => import("./telemetry.ts"),
  traces: () => import("./traces.ts")
}

const [name, ...args] = process.argv.slice(2)
if (name === undefined || !Object.hasOwn(proofs, name)) {
  console.error(`slow: name one of ${Object.keys(proofs).join(", ")}.`)
  process.exit(2)
}
const { run } = await proofs[name]!()
const passed = await run(args).catch((error: unknown) => {
  console.error(`slow ${name}: ${error instanceof Error ? error.message : String(error)}`)
  return false
})
process.exit(passed ? 0 : 1)
