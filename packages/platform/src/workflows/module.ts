/** Workflows and executions as a module. Spec: document 2 sections 2 to 4; api.md "Document 2"; decision 0076. */
import type { Role } from "@flyball/contract"
import { workflows as rows } from "@flyball/contract/http"
import {
  type Account,
  defineModule,
  EXECUTIONS,
  Lists,
  type Module,
  oneUnit,
  type OperationCaller,
  type OperationsOf,
  rounds,
  type Scope,
  unitOfDocument,
  unitOwner,
  WORKFLOWS
} from "@flyball/core"
import type { JsonObject } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import { listedExecution, listedWorkflow, storedWorkflow, workflowOut } from "./document.ts"
import { type WorkflowOptions, Workflows } from "./service.ts"

const own = (scope: Scope, { org_unit }: { readonly org_unit?: string }) => oneUnit(scope, org_unit)
const ofExecution = (scope: Scope, { org_unit }: { readonly org_unit?: string }, id: string) =>
  unitOfDocument(scope, org_unit, { collection: EXECUTIONS, id })

/** Rows of the platform API are served by its dialect alone, which makes the account. */
const capOf = (account: Account | null): number => account?.limits.concurrentRuns ?? 1

const rolesOf = ({ grants, account }: OperationCaller, unit: string): ReadonlyArray<Role> | "any" | null =>
  grants === "any"
    ? "any"
    : account?.subject.startsWith("pky_") === true
      ? null
      : grants.flatMap(({ orgUnit, role }) => (orgUnit === "*" || orgUnit === unit ? [role] : []))

const operations = {
  create: Effect.fnUntraced(function* ({ body, query }, { scope, writer }) {
    const unit = yield* own(scope, query)
    return yield* (yield* Workflows).create(unit, body, yield* writer)
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    const owner = unitOwner(yield* own(scope, query))
    const { rows: found, ...page } = yield* Lists.use((lists) =>
      lists.documents({ route: rows.list.id, owner, query }, WORKFLOWS, listedWorkflow)
    )
    return { data: found.map((document) => workflowOut(storedWorkflow(document))), ...page }
  }),
  start: Effect.fnUntraced(function* ({ body, params, query }, { account, scope, writer }) {
    const unit = yield* own(scope, query)
    const by = { writer: yield* writer, cap: capOf(account) }
    return yield* (yield* Workflows).start(unit, params.workflow_id, (body.inputs ?? {}) as JsonObject, by)
  }),
  executions: Effect.fnUntraced(function* ({ query }, { scope }) {
    const owner = unitOwner(yield* own(scope, query))
    const { rows: found, ...page } = yield* Lists.use((lists) =>
      lists.documents({ route: rows.executions.id, owner, query }, EXECUTIONS, listedExecution, "status")
    )
    return { data: yield* (yield* Workflows).shown(found), ...page }
  }),
  execution: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* (yield* Workflows).get(yield* ofExecution(scope, query, params.execution_id), params.execution_id)
  }),
  approve: Effect.fnUntraced(function* ({ body, params, query }, caller) {
    const unit = yield* ofExecution(caller.scope, query, params.execution_id)
    const approver = { writer: yield* caller.writer, roles: rolesOf(caller, unit) }
    return yield* (yield* Workflows).decide(unit, params.execution_id, body, approver)
  }),
  cancel: Effect.fnUntraced(function* ({ params, query }, { scope, writer }) {
    const unit = yield* ofExecution(scope, query, params.execution_id)
    return yield* (yield* Workflows).cancel(unit, params.execution_id, yield* writer)
  })
} satisfies OperationsOf<typeof rows>

/** Moves executions on. Every process does: an execution is taken by its version. */
const engine: Layer.Layer<never, never, Workflows> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { pause, round } = yield* Workflows
    yield* rounds(round, {
      failed: "Executions are not moved on; each half second tries again.",
      over: "Executions are moved on again.",
      pause
    })
  })
)

/** Workflows whose steps call agents, ask people or wait. Spec: document 2 sections 2 to 4. */
export const workflows = (
  options: WorkflowOptions = {}
): Module<"workflows", typeof rows, typeof operations, ReturnType<typeof Workflows.layer>, typeof engine> =>
  defineModule({ name: "workflows", rows, operations, layer: Workflows.layer(options), jobs: [engine] })
