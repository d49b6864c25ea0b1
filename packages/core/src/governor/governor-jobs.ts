/** Scheduled jobs of a governor. */
import { Layer } from "effect"
import { type Quotas, quotaJob } from "../admission/quotas.ts"
import type { Capability } from "../capability/capability.ts"
import { modulesOf } from "../capability/installed.ts"
import type { Chain } from "../chain/chain.ts"
import type { Agents } from "../registry/agents/service.ts"
import type { Breakers } from "../verdicts/breakers/service.ts"
import type { Drills } from "../verdicts/drills/service.ts"
import type { Kill } from "../verdicts/kill/service.ts"
import type { Reviews } from "../verdicts/reviews/service.ts"
import type { CommitFeed } from "../storage/commit-feed.ts"
import type { Storage } from "../storage/port.ts"
import { type Idempotency, idempotencyJob } from "../idempotency/idempotency.ts"
import { policyFollower } from "../outward/policy/policy-follower.ts"
import { modulesJobs } from "./modules.ts"
import type { Telemetry } from "../outward/telemetry/service.ts"

type JobServices =
  | Agents
  | Breakers
  | Chain
  | CommitFeed
  | Drills
  | Idempotency
  | Kill
  | Quotas
  | Reviews
  | Storage
  | Telemetry

/** All jobs, each under its own lease: run them in every process that stays. `openGovernor` and `flyball serve` do. */
export const governorJobs: Layer.Layer<never, never, JobServices> = Layer.mergeAll(
  policyFollower,
  idempotencyJob,
  quotaJob,
  modulesJobs
)

/** The jobs of the capabilities that a governor's layer was given: run them beside {@link governorJobs}. */
export const capabilityJobs = (capabilities: ReadonlyArray<Capability>): Layer.Layer<never, never, JobServices> =>
  modulesOf(capabilities)
    .flatMap(({ jobs }) => jobs)
    // The cast: as in the governor's layer.
    .reduce<Layer.Layer<never, never, JobServices>>(
      (all, job) => Layer.merge(all, job as Layer.Layer<never, never, JobServices>),
      Layer.empty
    )
