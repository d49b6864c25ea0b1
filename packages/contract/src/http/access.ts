/** Who may call what, as data: one row per line of the table in api.md, "Who may call". Spec: document 1 part 5. */
import { Forbidden, KeyNotAllowed } from "../refusals.ts"
import { type Role, roles } from "../session.ts"

/** Who may use an endpoint. */
export interface AccessRow {
  readonly name: string
  /** Without any token. */
  readonly anonymous: boolean
  readonly ingestKey: boolean
  readonly roles: ReadonlyArray<Role>
  /** Only for people whose org units are `*`: what is answered cannot be cut down to a unit. */
  readonly everyUnit: boolean
}

const row = (name: string, may: Partial<Omit<AccessRow, "name">>): AccessRow => ({ name, anonymous: false, ingestKey: false, roles: [], everyUnit: false, ...may })

/** The rows. A new capability picks one; a new row needs a line in the specification's table. */
export const access = {
  public: row("public", { anonymous: true, ingestKey: true, roles }),
  /** Register an agent, witness, settle, note a gap. */
  capture: row("capture", { ingestKey: true, roles: ["admin"] }),
  /** Attach an identity. A key does so only while its agent is in draft, which the registry checks. */
  identify: row("identify", { ingestKey: true, roles: ["governor", "admin"] }),
  /** What an ingest key reads too: its org unit's agents and their decisions, head and checkpoint, itself. */
  readOwn: row("read_own", { ingestKey: true, roles }),
  read: row("read", { roles }),
  /** Reads of the whole chain. */
  readChain: row("read_chain", { roles, everyUnit: true }),
  /** Ask for evidence packs; what one may ask for depends on the org unit. */
  exportPacks: row("export_packs", { roles }),
  /** Stop an agent. */
  operate: row("operate", { roles: ["operator", "governor", "admin"] }),
  /** Change an agent, its owner and what it may do. */
  govern: row("govern", { roles: ["governor", "admin"] }),
  /** Change what agents of every org unit use. */
  governAll: row("govern_all", { roles: ["governor", "admin"], everyUnit: true }),
  administer: row("administer", { roles: ["admin"] }),
  /** What concerns every org unit at once. */
  administerAll: row("administer_all", { roles: ["admin"], everyUnit: true }),
  erase: row("erase", { roles: ["admin"], everyUnit: true })
} as const satisfies { readonly [name: string]: AccessRow }

/** A caller, as far as access is concerned. */
export type Caller =
  | { readonly kind: "key"; readonly orgUnit: string }
  | { readonly kind: "user"; readonly role: Role; readonly orgUnits: "*" | ReadonlyArray<string> }

/** The one org unit of a caller, which need not be named; null where it has every one, or several. */
export const unitOf = (caller: Caller): string | null => {
  if (caller.kind === "key") return caller.orgUnit
  return caller.orgUnits !== "*" && caller.orgUnits.length === 1 ? caller.orgUnits[0]! : null
}

/** Why this caller may not use an endpoint of this row; null when it may. */
export const refusalFor = (row: AccessRow, caller: Caller): KeyNotAllowed | Forbidden | null => {
  if (caller.kind === "key") return row.ingestKey ? null : new KeyNotAllowed()
  if (!row.roles.includes(caller.role)) return new Forbidden({ need: `the role ${row.roles.toReversed().join(" or ")}` })
  if (row.everyUnit && caller.orgUnits !== "*") return new Forbidden({ need: "the org unit *, because it concerns every unit" })
  return null
}
