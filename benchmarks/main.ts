/** `npm run bench -- NAME… [--json]`: without a name, all. Each line compares with a limit measured in the same run. */
import { enableCompileCache } from "node:module"
import type { Benchmark, Line } from "./harness.ts"

// As `flyball` and `flyball-verify` do. Without it each thread of a round strips types and compiles anew, which
// nobody's installed program does.
enableCompileCache()

const benchmarks: { readonly [name: string]: () => Promise<{ readonly benchmark: Benchmark }> } = {
  verify: () => import("./verify.ts"),
  append: () => import("./append.ts"),
  witness: () => import("./witness.ts"),
  http: () => import("./http.ts"),
  proof: () => import("./proof.ts"),
  eventloop: () => import("./eventloop.ts"),
  coldstart: () => import("./coldstart.ts"),
  webhooks: () => import("./webhooks.ts"),
  envelopes: () => import("./envelopes.ts"),
  evaluations: () => import("./evaluations.ts"),
  client: () => import("./client.ts"),
  kill: () => import("./kill.ts"),
  flood: () => import("./flood.ts"),
  executions: () => import("./executions.ts"),
  breakers: () => import("./breakers.ts"),
  behavior: () => import("./behavior.ts"),
  fairness: () => import("./fairness.ts"),
  limits: () => import("./limits.ts"),
  platform: () => import("./platform.ts"),
  gateway: () => import("./gateway.ts"),
  documents: () => import("./documents.ts"),
  routes: () => import("./routes.ts"),
  tracking: () => import("./tracking.ts")
}

const json = process.argv.includes("--json")
const requested = process.argv.slice(2).filter((argument) => !argument.startsWith("--"))
const unknown = requested.filter((name) => !Object.hasOwn(benchmarks, name))
if (unknown.length > 0) {
  console.error(`bench: there is no benchmark ${unknown.join(", ")}. There are: ${Object.keys(benchmarks).join(", ")}.`)
  process.exit(2)
}

const print = (line: Line): void => {
  if (json) return console.log(JSON.stringify(line))
  const limit = line.limit === null ? "" : `  limit ${line.limit} ${line.unit}, ratio ${line.ratio}`
  console.log(`${line.met ? "met   " : "missed"} ${line.name}: ${line.value} ${line.unit}${limit}  (goal ${line.goal})`)
}

for (const name of requested.length > 0 ? requested : Object.keys(benchmarks)) {
  const { benchmark } = await benchmarks[name]!()
  if (!json) console.log(`\n${benchmark.name}: ${benchmark.about}`)
  for (const line of await benchmark.run((text) => console.error(text))) print(line)
}
process.exit(0)
