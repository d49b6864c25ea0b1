/**
 * States who may call what, as data: one row per line of the table in api.md, "Who may call". Spec: document 1 part 5.
 */
import { Forbidden, KeyNotAllowed } from "../refusals.ts"
import type { PlatformScope } from "../platform/keys.ts"
import { type Role, roles } from "../session.ts"

/** A row of the access table: the callers that may use an endpoint. */
export interface AccessRow {
  readonly name: string
  /** Without any token. */
  readonly anonymous: boolean
  readonly ingestKey: boolean
  /** The scope with which a platform key may; null: no platform key. */
  readonly scope: PlatformScope | null
  readonly roles: ReadonlyArray<Role>
  /** Only for people whose org units are `*`: what is answered cannot be cut down to a unit. */
  readonly everyUnit: boolean
}

const row = (name: string, may: Partial<Omit<AccessRow, "name">>): AccessRow => ({
  name,
  anonymous: false,
  ingestKey: false,
  scope: null,
  roles: [],
  everyUnit: false,
  ...may
})

/** Rows of the access table. Each endpoint names one. Spec: document 1 section 5; api.md "Who may call". */
export const access = {
  public: row("public", { anonymous: true, ingestKey: true, roles }),
  /**
   * Register an agent, attach an identity. A key attaches only while its agent is in draft, which the registry checks.
   */
  register: row("register", { ingestKey: true, roles: ["governor", "admin"] }),
  /** Witness, settle, note a gap, evaluate. */
  capture: row("capture", { ingestKey: true, roles: ["admin"] }),
  /** Reads that an ingest key may make too: its org unit's agents and their decisions, head and checkpoint, itself. */
  readOwn: row("read_own", { ingestKey: true, roles }),
  read: row("read", { roles }),
  /** Reads of records: they hold what every org unit did. */
  readChain: row("read_chain", { roles, everyUnit: true }),
  /** Ask for evidence packs; what one may ask for depends on the org unit. */
  exportPacks: row("export_packs", { roles }),
  /** Claim and resolve reviews. */
  review: row("review", { roles: ["reviewer", "operator", "governor", "admin"] }),
  /** Stop an agent. */
  operate: row("operate", { roles: ["operator", "governor", "admin"] }),
  /** Change an agent, its owner and what it may do. */
  govern: row("govern", { roles: ["governor", "admin"] }),
  /** Change what agents of every org unit use. */
  governAll: row("govern_all", { roles: ["governor", "admin"], everyUnit: true }),
  administer: row("administer", { roles: ["admin"] }),
  /** Administration that concerns every org unit at once. */
  administerAll: row("administer_all", { roles: ["admin"], everyUnit: true }),
  erase: row("erase", { roles: ["admin"], everyUnit: true })
} as const satisfies { readonly [name: string]: AccessRow }

/** Makes a row of the platform API: these people, and platform keys with this scope. Spec: document 2 section 5. */
export const platformAccess = (scope: PlatformScope, people: ReadonlyArray<Role> = roles): AccessRow =>
  row(`v1_${scope.replace(":", "_")}`, { scope, roles: people })

/** A role in an org unit (`*` is every one), as one matched rule of the access mapping gives it. */
export interface Grant {
  readonly role: Role
  readonly orgUnit: string
}

/** A caller, as far as access is concerned. */
export type Caller =
  | { readonly kind: "key"; readonly orgUnit: string }
  | { readonly kind: "platform"; readonly orgUnit: string; readonly scopes: ReadonlyArray<PlatformScope> }
  | { readonly kind: "user"; readonly grants: ReadonlyArray<Grant> }

/** Org units; `*` is every one. */
export type OrgUnits = "*" | ReadonlyArray<string>

/**
 * The org units in which a caller may use the endpoints of a row; none where it may not use them at all.
 *
 * Each grant counts for itself: its unit is in the answer when its role is in the row. So one more grant never takes a
 * unit away.
 * A row that concerns every unit needs a grant for `*`.
 *
 * Spec: api.md "Who may call"; decision 0039.
 */
export const unitsFor = (row: AccessRow, caller: Caller): OrgUnits => {
  switch (caller.kind) {
    case "key":
      return row.ingestKey ? [caller.orgUnit] : []
    case "platform":
      return holds(caller.scopes, row.scope) ? [caller.orgUnit] : []
    case "user":
      return unitsOfPerson(row, caller.grants)
  }
}

/** True when scopes include one. `*` includes all but what a person alone does where nobody says otherwise. */
const holds = (scopes: ReadonlyArray<PlatformScope>, scope: PlatformScope | null): boolean =>
  scope !== null && (scopes.includes(scope) || (scopes.includes("*") && scope !== "executions:approve"))

const unitsOfPerson = (row: AccessRow, grants: ReadonlyArray<Grant>): OrgUnits => {
  const units = grants.flatMap(({ orgUnit, role }) => (row.roles.includes(role) ? [orgUnit] : []))
  if (units.includes("*")) return "*"
  return row.everyUnit ? [] : [...new Set(units)]
}

/**
 * The one org unit in which a caller may use the endpoints of a row, which need not be named; null where there are
 * several, or every one.
 */
export const unitOf = (row: AccessRow, caller: Caller): string | null => {
  const units = unitsFor(row, caller)
  return units !== "*" && units.length === 1 ? units[0]! : null
}

/**
 * Why this caller may not use an endpoint of this row, with the role that is missing; null when it may. Spec: document
 * 1 section 5, item 4.
 */
export const refusalFor = (row: AccessRow, caller: Caller): KeyNotAllowed | Forbidden | null => {
  if (unitsFor(row, caller).length > 0) return null
  if (caller.kind === "key" || (caller.kind === "platform" && row.scope === null)) return new KeyNotAllowed()
  if (caller.kind === "platform")
    return new Forbidden({ need: `the scope ${row.scope}`, have: listed(caller.scopes, "and") || "no scope" })
  return new Forbidden({
    need: `${roleNeeded(row)}${row.everyUnit ? " in org unit *" : ""}`,
    have: grantsHeld(caller.grants, row.everyUnit)
  })
}

/**
 * Why a caller may not do this to an object that another of its grants can read. Spec: decision 0039.
 */
export const refusalThere = (row: AccessRow, grants: ReadonlyArray<Grant>): Forbidden =>
  new Forbidden({ need: `${roleNeeded(row)} in the org unit that it is about`, have: grantsHeld(grants, true) })

/** Weakest first: the role to ask for is the first. */
const roleNeeded = ({ roles: needed }: AccessRow): string => `the role ${listed(needed, "or")}`

/** Grants that a refusal names. A mapping may give a person hundreds. */
const NAMED_GRANTS = 8

/** The roles of a person in words, strongest first; with the unit of each where the answer depends on it. */
const grantsHeld = (grants: ReadonlyArray<Grant>, withUnits: boolean): string => {
  const strongestFirst = roles.flatMap((role) => grants.filter((grant) => grant.role === role))
  const held = [...new Set(strongestFirst.map(({ orgUnit, role }) => (withUnits ? `${role} in ${orgUnit}` : role)))]
  return listed(
    held.length > NAMED_GRANTS ? [...held.slice(0, NAMED_GRANTS), `${held.length - NAMED_GRANTS} more`] : held,
    "and"
  )
}

const listed = (words: ReadonlyArray<string>, last: "and" | "or"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`
