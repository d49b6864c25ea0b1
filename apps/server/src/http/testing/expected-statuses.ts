/**
 * Expected status for every kind of caller at every endpoint, written from the specification and the decisions that
 * fill it, not from the code. Spec: api.md, "Who may call"; decision 0016.
 */
import type { Grant } from "@flyball/contract/http"
import { OTHER_UNIT, UNIT } from "../http-world.ts"

/** Somebody whose token opens something. */
export interface TableCaller {
  readonly name: string
  /** None for an ingest key. */
  readonly grants: ReadonlyArray<Grant>
  /** Where the caller registers and mints. */
  readonly orgUnit: string
}

/** The columns of people, as api.md has them. */
const roles = ["auditor", "reviewer", "operator", "governor", "admin"] as const
type People = readonly [auditor: number, reviewer: number, operator: number, governor: number, admin: number]

const peopleOf = (orgUnit: string): ReadonlyArray<TableCaller> =>
  roles.map((role) => ({ name: `${role} of ${orgUnit}`, grants: [{ role, orgUnit }], orgUnit }))

/** Somebody whom two rules of the mapping match. Registers and mints where the agent is. */
const both = (role: Grant["role"], orgUnit: string, otherRole: Grant["role"], otherUnit: string): TableCaller => ({
  name: `${role} of ${orgUnit} and ${otherRole} of ${otherUnit}`,
  grants: [
    { role, orgUnit },
    { role: otherRole, orgUnit: otherUnit }
  ],
  orgUnit: UNIT
})

/** The columns of people with two grants. */
type Two = readonly [
  governorHere: number,
  adminElsewhere: number,
  operatorHere: number,
  adminHere: number,
  operatorElsewhere: number
]

/**
 * In the order in which {@link expectedStatuses} lists them, group by group. Every request is about an agent of {@link
 * UNIT}.
 */
export const tableCallers: ReadonlyArray<ReadonlyArray<TableCaller>> = [
  [UNIT, OTHER_UNIT].map((orgUnit) => ({ name: `key of ${orgUnit}`, grants: [], orgUnit })),
  peopleOf("*"),
  peopleOf(UNIT),
  peopleOf(OTHER_UNIT)
]

/** People with two grants, in the order in which {@link expectedOfTwo} lists them. */
export const twoGrantCallers: ReadonlyArray<TableCaller> = [
  both("governor", UNIT, "auditor", "*"),
  both("admin", OTHER_UNIT, "auditor", UNIT),
  both("operator", UNIT, "governor", OTHER_UNIT),
  both("admin", UNIT, "auditor", OTHER_UNIT),
  both("operator", OTHER_UNIT, "auditor", "*")
]

/**
 * Four groups: the keys of the agent's org unit and of another; the people of every unit, `*`; those of the agent's
 * unit; those of another.
 *
 * - A 403 of a key is `key_not_allowed`, of a person `forbidden`. What another unit has is 404, to those who might
 *   otherwise.
 * - Records need `*`; head, verify, checkpoint, keys and proofs do not. The mapping, webhooks and erasure need it, of
 *   which api.md says no unit (decisions 0016 and 0019, SECURITY.md).
 * - The pack to download is a full one, which only `*` sees. Who may read keys, mapping and webhooks: decision 0016.
 * - Models belong to no unit: any governor adds one, and who changes one changes it for all (decision 0016).
 */
export const expectedStatuses: {
  readonly [id: string]: readonly [keys: readonly [number, number], everywhere: People, own: People, other: People]
} = {
  "system.healthz": [
    [200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "system.status": [
    [200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "system.me": [
    [200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  // A pseudonym belongs to no unit, so the unit of the grant does not matter.
  "system.principal": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200]
  ],
  "agents.create": [
    [201, 201],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 201, 201]
  ],
  "agents.list": [
    [200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "agents.get": [
    [200, 404],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "agents.timeline": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "system.meta": [
    [200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "behavior.change": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "evals.list": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "evals.record": [
    [403, 403],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 404, 404]
  ],
  "models.list": [
    [200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "models.create": [
    [403, 403],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 201, 201]
  ],
  "models.update": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "agents.add_provenance": [
    [403, 403],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 404, 404]
  ],
  "agents.provenance": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "agents.orphans": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "agents.update": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "agents.activate": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "agents.suspend": [
    [403, 403],
    [403, 403, 200, 200, 200],
    [403, 403, 200, 200, 200],
    [403, 403, 404, 404, 404]
  ],
  "agents.decommission": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "agents.recertify": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "agents.transfer_ownership": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "agents.disown": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "agents.attach_identity": [
    [201, 404],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 404, 404]
  ],
  "decisions.witness": [
    [201, 404],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 404]
  ],
  "decisions.list": [
    [200, 404],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "decisions.get": [
    [200, 404],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "decisions.settle": [
    [201, 404],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 404]
  ],
  "decisions.gap": [
    [201, 404],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 404]
  ],
  "decisions.end_instance": [
    [201, 404],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 404]
  ],
  "bound.create_envelope": [
    [403, 403],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 404, 404]
  ],
  "bound.envelopes": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "bound.envelope": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "bound.update_envelope": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "bound.lint": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "bound.publish": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "bound.withdraw": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "bound.backtest": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "bound.versions": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "bound.version": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "bound.diff": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "bound.request_waiver": [
    [403, 403],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 201, 201],
    [403, 403, 403, 404, 404]
  ],
  "bound.waivers": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "bound.grant_waiver": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  // Of a review that nobody knows.
  "standing_approvals.propose": [
    [403, 403],
    [403, 404, 404, 404, 404],
    [403, 404, 404, 404, 404],
    [403, 404, 404, 404, 404]
  ],
  "standing_approvals.list": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "standing_approvals.get": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "standing_approvals.grant": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "standing_approvals.revoke": [
    [403, 403],
    [403, 403, 200, 200, 200],
    [403, 403, 200, 200, 200],
    [403, 403, 404, 404, 404]
  ],
  "bound.envelopes_in_force": [
    [200, 404],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "bound.evaluate": [
    [201, 404],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 404]
  ],
  "bound.evaluations": [
    [200, 404],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "bound.evaluation": [
    [200, 404],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "bound.explain": [
    [200, 404],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "bound.void_evaluation": [
    [403, 403],
    [403, 403, 201, 201, 201],
    [403, 403, 201, 201, 201],
    [403, 403, 404, 404, 404]
  ],
  "bound.response_policy": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "bound.set_response_policy": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "bound.safety": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "bound.usage": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "reviews.list": [
    [200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "reviews.stream": [
    [200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  // A key sees what it requested itself.
  "reviews.get": [
    [200, 404],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "reviews.claim": [
    [403, 403],
    [403, 200, 200, 200, 200],
    [403, 200, 200, 200, 200],
    [403, 404, 404, 404, 404]
  ],
  "reviews.resolve": [
    [403, 403],
    [403, 200, 200, 200, 200],
    [403, 200, 200, 200, 200],
    [403, 404, 404, 404, 404]
  ],
  // Only the requester withdraws.
  "reviews.withdraw": [
    [404, 404],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 404],
    [403, 403, 403, 403, 404]
  ],
  "kill.start_drill": [
    [403, 403],
    [403, 403, 201, 201, 201],
    [403, 403, 201, 201, 201],
    [403, 403, 404, 404, 404]
  ],
  "kill.drills": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "kill.drill": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "kill.complete_drill": [
    [403, 403],
    [403, 403, 200, 200, 200],
    [403, 403, 200, 200, 200],
    [403, 403, 404, 404, 404]
  ],
  "kill.attest_drill": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "kill.activate": [
    [403, 403],
    [403, 403, 201, 201, 201],
    [403, 403, 201, 201, 201],
    [403, 403, 404, 404, 404]
  ],
  "kill.release": [
    [403, 403],
    [403, 403, 200, 200, 200],
    [403, 403, 200, 200, 200],
    [403, 403, 404, 404, 404]
  ],
  "kill.ack": [
    [201, 404],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 404]
  ],
  "kill.request": [
    [201, 404],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 404]
  ],
  "kill.events": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "kill.stream": [
    [200, 404],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "kill.activation": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  // A range pack holds records of every org unit, as those of "evidence.create" with kind range.
  "kill.certificate": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [403, 403, 403, 403, 403],
    [404, 404, 404, 404, 404]
  ],
  "kill.status": [
    [200, 404],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "breakers.arm": [
    [403, 403],
    [403, 403, 201, 201, 201],
    [403, 403, 201, 201, 201],
    [403, 403, 404, 404, 404]
  ],
  "breakers.list": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "breakers.preview": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "breakers.get": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404]
  ],
  "breakers.update": [
    [403, 403],
    [403, 403, 200, 200, 200],
    [403, 403, 200, 200, 200],
    [403, 403, 404, 404, 404]
  ],
  "breakers.release": [
    [403, 403],
    [403, 403, 200, 200, 200],
    [403, 403, 200, 200, 200],
    [403, 403, 404, 404, 404]
  ],
  "breakers.check": [
    [403, 403],
    [403, 403, 200, 200, 200],
    [403, 403, 200, 200, 200],
    [403, 403, 200, 200, 200]
  ],
  "chain.head": [
    [200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "chain.verify": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "chain.records": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "chain.record": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "chain.part": [
    [403, 403],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 200, 200],
    [403, 403, 403, 404, 404]
  ],
  "chain.proof": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "chain.consistency": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "chain.checkpoint": [
    [200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "chain.genesis": [
    [200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "chain.keys": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "chain.erase": [
    [403, 403],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "evidence.create": [
    [403, 403],
    [201, 201, 201, 201, 201],
    [201, 201, 201, 201, 201],
    [201, 201, 201, 201, 201]
  ],
  "evidence.list": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200],
    [200, 200, 200, 200, 200]
  ],
  "evidence.download": [
    [403, 403],
    [200, 200, 200, 200, 200],
    [404, 404, 404, 404, 404],
    [404, 404, 404, 404, 404]
  ],
  "access_mapping.get": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "access_mapping.set": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "access_mapping.resolve_draft": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 200]
  ],
  "ingest_keys.mint": [
    [403, 403],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 201]
  ],
  "ingest_keys.list": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 200]
  ],
  "ingest_keys.revoke": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 404]
  ],
  "platform_keys.mint": [
    [403, 403],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 201]
  ],
  "platform_keys.list": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 200]
  ],
  "platform_keys.revoke": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 404]
  ],
  "webhooks.create": [
    [403, 403],
    [403, 403, 403, 403, 201],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "webhooks.list": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "webhooks.get": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "webhooks.test": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "webhooks.revoke": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "webhooks.rotate_secret": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "webhooks.complete_rotation": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "webhooks.disable": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "webhooks.enable": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "webhooks.deliveries": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "webhooks.redeliver": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ],
  "webhooks.recover": [
    [403, 403],
    [403, 403, 403, 403, 200],
    [403, 403, 403, 403, 403],
    [403, 403, 403, 403, 403]
  ]
}

/**
 * Expected status for people with two grants. Each grant is judged by itself, and a second one takes nothing away. A
 * person who may read a resource by one grant and would need the other to change it gets 403, not 404.
 */
export const expectedOfTwo: { readonly [id: string]: Two } = {
  "system.healthz": [200, 200, 200, 200, 200],
  "system.status": [200, 200, 200, 200, 200],
  "system.me": [200, 200, 200, 200, 200],
  "system.principal": [200, 200, 200, 200, 403],
  "agents.create": [201, 403, 403, 201, 403],
  "agents.list": [200, 200, 200, 200, 200],
  "agents.get": [200, 200, 200, 200, 200],
  "agents.timeline": [200, 200, 200, 200, 200],
  "system.meta": [200, 200, 200, 200, 200],
  "behavior.change": [200, 200, 200, 200, 200],
  "evals.list": [200, 200, 200, 200, 200],
  "evals.record": [201, 403, 403, 201, 403],
  "models.list": [200, 200, 200, 200, 200],
  "models.create": [201, 201, 201, 201, 403],
  "models.update": [403, 403, 403, 403, 403],
  "agents.add_provenance": [201, 403, 403, 201, 403],
  "agents.provenance": [200, 200, 200, 200, 200],
  "agents.orphans": [200, 200, 200, 200, 200],
  "agents.update": [200, 403, 403, 200, 403],
  "agents.activate": [200, 403, 403, 200, 403],
  "agents.suspend": [200, 403, 200, 200, 403],
  "agents.decommission": [200, 403, 403, 200, 403],
  "agents.recertify": [200, 403, 403, 200, 403],
  "agents.transfer_ownership": [200, 403, 403, 200, 403],
  "agents.disown": [200, 403, 403, 200, 403],
  "agents.attach_identity": [201, 403, 403, 201, 403],
  "decisions.witness": [403, 403, 403, 201, 403],
  "decisions.list": [200, 200, 200, 200, 200],
  "decisions.get": [200, 200, 200, 200, 200],
  "decisions.settle": [403, 403, 403, 201, 403],
  "decisions.gap": [403, 403, 403, 201, 403],
  "decisions.end_instance": [403, 403, 403, 201, 403],
  "bound.create_envelope": [201, 403, 403, 201, 403],
  "bound.envelopes": [200, 200, 200, 200, 200],
  "bound.envelope": [200, 200, 200, 200, 200],
  "bound.update_envelope": [200, 403, 403, 200, 403],
  "bound.lint": [200, 200, 200, 200, 200],
  "bound.publish": [200, 403, 403, 200, 403],
  "bound.withdraw": [200, 403, 403, 200, 403],
  "bound.backtest": [200, 200, 200, 200, 200],
  "bound.versions": [200, 200, 200, 200, 200],
  "bound.version": [200, 200, 200, 200, 200],
  "bound.diff": [200, 200, 200, 200, 200],
  "bound.request_waiver": [201, 403, 403, 201, 403],
  "bound.waivers": [200, 200, 200, 200, 200],
  "bound.grant_waiver": [200, 403, 403, 200, 403],
  "standing_approvals.propose": [404, 404, 404, 404, 404],
  "standing_approvals.list": [200, 200, 200, 200, 200],
  "standing_approvals.get": [200, 200, 200, 200, 200],
  "standing_approvals.grant": [200, 403, 403, 200, 403],
  "standing_approvals.revoke": [200, 403, 200, 200, 403],
  "bound.envelopes_in_force": [200, 200, 200, 200, 200],
  "bound.evaluate": [403, 403, 403, 201, 403],
  "bound.evaluations": [200, 200, 200, 200, 200],
  "bound.evaluation": [200, 200, 200, 200, 200],
  "bound.explain": [200, 200, 200, 200, 200],
  "bound.void_evaluation": [201, 403, 201, 201, 403],
  "bound.response_policy": [200, 200, 200, 200, 200],
  "bound.set_response_policy": [403, 403, 403, 403, 403],
  "bound.safety": [200, 200, 200, 200, 200],
  "bound.usage": [200, 200, 200, 200, 200],
  "reviews.list": [200, 200, 200, 200, 200],
  "reviews.stream": [200, 200, 200, 200, 200],
  "reviews.get": [200, 200, 200, 200, 200],
  "reviews.claim": [200, 403, 200, 200, 403],
  "reviews.resolve": [200, 403, 200, 200, 403],
  "reviews.withdraw": [403, 403, 403, 404, 403],
  "kill.start_drill": [201, 403, 201, 201, 403],
  "kill.drills": [200, 200, 200, 200, 200],
  "kill.drill": [200, 200, 200, 200, 200],
  "kill.complete_drill": [200, 403, 200, 200, 403],
  "kill.attest_drill": [200, 403, 403, 200, 403],
  "kill.activate": [201, 403, 201, 201, 403],
  "kill.release": [200, 403, 200, 200, 403],
  "kill.ack": [403, 403, 403, 201, 403],
  "kill.request": [403, 403, 403, 201, 403],
  "kill.events": [200, 200, 200, 200, 200],
  "kill.stream": [200, 200, 200, 200, 200],
  "kill.activation": [200, 200, 200, 200, 200],
  "kill.certificate": [200, 403, 403, 403, 200],
  "kill.status": [200, 200, 200, 200, 200],
  "breakers.arm": [201, 403, 201, 201, 403],
  "breakers.list": [200, 200, 200, 200, 200],
  "breakers.preview": [200, 200, 200, 200, 200],
  "breakers.get": [200, 200, 200, 200, 200],
  "breakers.update": [200, 403, 200, 200, 403],
  "breakers.release": [200, 403, 200, 200, 403],
  "breakers.check": [200, 200, 200, 200, 200],
  "chain.head": [200, 200, 200, 200, 200],
  "chain.verify": [200, 200, 200, 200, 200],
  "chain.records": [200, 403, 403, 403, 200],
  "chain.record": [200, 403, 403, 403, 200],
  "chain.part": [200, 404, 404, 200, 403],
  "chain.proof": [200, 200, 200, 200, 200],
  "chain.consistency": [200, 200, 200, 200, 200],
  "chain.checkpoint": [200, 200, 200, 200, 200],
  "chain.genesis": [200, 200, 200, 200, 200],
  "chain.keys": [200, 200, 200, 200, 200],
  "chain.erase": [403, 403, 403, 403, 403],
  "evidence.create": [201, 201, 201, 201, 201],
  "evidence.list": [200, 200, 200, 200, 200],
  "evidence.download": [200, 404, 404, 404, 200],
  "access_mapping.get": [403, 403, 403, 403, 403],
  "access_mapping.set": [403, 403, 403, 403, 403],
  "access_mapping.resolve_draft": [403, 200, 403, 200, 403],
  "ingest_keys.mint": [403, 403, 403, 201, 403],
  "ingest_keys.list": [403, 200, 403, 200, 403],
  "ingest_keys.revoke": [403, 404, 403, 200, 403],
  "platform_keys.mint": [403, 403, 403, 201, 403],
  "platform_keys.list": [403, 200, 403, 200, 403],
  "platform_keys.revoke": [403, 404, 403, 200, 403],
  "webhooks.create": [403, 403, 403, 403, 403],
  "webhooks.list": [403, 403, 403, 403, 403],
  "webhooks.get": [403, 403, 403, 403, 403],
  "webhooks.test": [403, 403, 403, 403, 403],
  "webhooks.revoke": [403, 403, 403, 403, 403],
  "webhooks.rotate_secret": [403, 403, 403, 403, 403],
  "webhooks.complete_rotation": [403, 403, 403, 403, 403],
  "webhooks.disable": [403, 403, 403, 403, 403],
  "webhooks.enable": [403, 403, 403, 403, 403],
  "webhooks.deliveries": [403, 403, 403, 403, 403],
  "webhooks.redeliver": [403, 403, 403, 403, 403],
  "webhooks.recover": [403, 403, 403, 403, 403]
}
