/**
 * The modules of the governor, and what runs over all of them: services, jobs, handlers of HTTP, embedding clients,
 * look-ups. Spec: house section 3.
 */
import { Layer } from "effect"
import type { Read } from "../capability/module.ts"
import { chain } from "../outward/chain/module.ts"
import { evidence } from "../outward/packs/module.ts"
import { telemetry } from "../outward/telemetry/module.ts"
import { webhooks } from "../outward/webhooks/module.ts"
import { accessMapping } from "../registry/access-mapping/module.ts"
import { ingestKeys } from "../registry/ingest-keys/module.ts"
import { models } from "../registry/models/module.ts"
import { agents } from "../registry/module.ts"
import { platformKeys } from "../registry/platform-keys/module.ts"
import { people } from "../registry/principals/module.ts"
import { provenance } from "../registry/provenance/module.ts"
import { behavior } from "../screens/drift/module.ts"
import { evals } from "../screens/evals/module.ts"
import { mcp } from "../screens/mcp/module.ts"
import { fairness } from "../screens/fairness/module.ts"
import { breakers } from "../verdicts/breakers/module.ts"
import { decisions } from "../verdicts/capture/module.ts"
import { drills } from "../verdicts/drills/module.ts"
import { envelopes } from "../verdicts/envelopes/module.ts"
import { evaluations } from "../verdicts/evaluations/module.ts"
import { kill } from "../verdicts/kill/module.ts"
import { responsePolicy } from "../verdicts/response-policy/module.ts"
import { reviews } from "../verdicts/reviews/module.ts"
import { safety } from "../verdicts/safety/module.ts"
import { standingApprovals } from "../verdicts/standing-approvals/module.ts"
import { waivers } from "../verdicts/waivers/module.ts"

/** The modules. One that is added here needs no other list. */
export const modules: readonly [
  typeof accessMapping,
  typeof agents,
  typeof behavior,
  typeof breakers,
  typeof chain,
  typeof decisions,
  typeof drills,
  typeof envelopes,
  typeof evals,
  typeof evaluations,
  typeof evidence,
  typeof fairness,
  typeof ingestKeys,
  typeof kill,
  typeof mcp,
  typeof models,
  typeof people,
  typeof platformKeys,
  typeof provenance,
  typeof responsePolicy,
  typeof reviews,
  typeof safety,
  typeof standingApprovals,
  typeof telemetry,
  typeof waivers,
  typeof webhooks
] = [
  accessMapping,
  agents,
  behavior,
  breakers,
  chain,
  decisions,
  drills,
  envelopes,
  evals,
  evaluations,
  evidence,
  fairness,
  ingestKeys,
  kill,
  mcp,
  models,
  people,
  platformKeys,
  provenance,
  responsePolicy,
  reviews,
  safety,
  standingApprovals,
  telemetry,
  waivers,
  webhooks
]

type One = (typeof modules)[number]

/** Services of all modules. */
export type ModuleServices = Layer.Success<One["layer"]>

type Job = One["jobs"][number]

/** The services of all modules. Spec: house section 3. */
export const modulesLayer: Layer.Layer<
  ModuleServices,
  Layer.Error<One["layer"]>,
  Layer.Services<One["layer"]>
> = Layer.mergeAll(
  // One cast a list: a tuple of layers as `map` cannot type it.
  ...(modules.map(({ layer }) => layer) as unknown as readonly [One["layer"], ...Array<One["layer"]>])
)

/** The jobs of all modules, each under its own lease. Spec: house section 3. */
export const modulesJobs: Layer.Layer<never, Layer.Error<Job>, Layer.Services<Job>> = Layer.mergeAll(
  ...(modules.flatMap(({ jobs }): ReadonlyArray<Job> => jobs) as unknown as readonly [Job, ...Array<Job>])
)

/** How the things of all modules are looked up. */
export const moduleReads: ReadonlyArray<Read> = modules.flatMap(({ reads }): ReadonlyArray<Read> => reads)
