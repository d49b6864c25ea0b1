/** A chain in which every sort of entry of a summary occurs. For tests only. */
import {
  encodeRecord,
  formatCheckpoint,
  formatInstant,
  formatNote,
  type JsonObject,
  NO_RECORD,
  noteSigner,
  packLines,
  rootOfHashes,
  toHex,
  utf8
} from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"

/** A record, with the JSON of its parts; null for one that is withheld. */
export interface SampleRecord {
  readonly kind: string
  readonly body: JsonObject
  readonly parts?: { readonly [name: string]: unknown }
}

/** Origin of the sample chain. */
export const SAMPLE_ORIGIN = "flyball.example/summary"
const seed = new Uint8Array(32).fill(5)
const signer = noteSigner(nodeCrypto, { name: SAMPLE_ORIGIN, seed })
const salt = new Uint8Array(32).fill(7)
/** 2026-11-21. A record follows each second. */
const START_MS = 1_795_219_200_000

/** Verification key of the sample chain. */
export const sampleVkey = signer.vkey

/** The bytes of a part as {@link samplePack} discloses it. */
export const partBytes = (value: unknown): Uint8Array => utf8(JSON.stringify(value))

/** A full pack of record 0 and these records. */
export const samplePack = async (
  records: ReadonlyArray<SampleRecord>,
  changed: (pack: string) => string = (pack) => pack
): Promise<Uint8Array> => {
  const genesis = { hash: "sha256-rfc6962", origin: SAMPLE_ORIGIN, vkeys: [signer.vkey] }
  const all: ReadonlyArray<SampleRecord> = [{ kind: "chain.genesis", body: genesis }, ...records]
  const sealed: Array<Uint8Array> = []
  for (const [seq, { body, kind, parts = {} }] of all.entries()) {
    const prev = seq === 0 ? NO_RECORD : toHex(nodeCrypto.leafHash(sealed.at(-1)!))
    const committed = partsOf(parts).map(([name, value]) => ({
      c: value === null ? "0a".repeat(32) : toHex(nodeCrypto.commitment(salt, name, partBytes(value))),
      name
    }))
    sealed.push(encodeRecord({ at: formatInstant(START_MS + seq * 1_000), body, kind, parts: committed, prev, seq }))
  }
  const size = sealed.length
  const root = rootOfHashes(
    nodeCrypto,
    sealed.map((record) => nodeCrypto.leafHash(record))
  )
  const text = formatCheckpoint({ origin: SAMPLE_ORIGIN, size, root })
  const lines = packLines(nodeCrypto, SAMPLE_ORIGIN)
  const out = [
    lines.open(
      {
        created: formatInstant(START_MS),
        filter: {},
        from: 0,
        generator: "test/1",
        kind: "full",
        to: size - 1,
        tree_size: size
      },
      formatNote(text, [signer.line(text)])
    ),
    ...sealed.map((record) => lines.record(record)),
    lines.range(0, size - 1, [], [])
  ]
  for (const [seq, { parts = {} }] of all.entries())
    for (const [name, value] of partsOf(parts))
      if (value !== null) out.push(lines.disclosed(seq, name, salt, partBytes(value)))
  out.push((await lines.close((message) => nodeCrypto.ed25519Sign(seed, message), SAMPLE_ORIGIN, signer.keyId)).bytes)
  const pack = Buffer.concat(out)
  return Buffer.from(changed(pack.toString("latin1")), "latin1")
}

const partsOf = (parts: { readonly [name: string]: unknown }): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(parts).toSorted(([a], [b]) => (a < b ? -1 : 1))

const agent = (n: number): string => `agt_0000000000000000000000000${n}`
const person = (n: number): string => `usr_0000000000000000000000000${n}`
const envelope = "env_00000000000000000000000001"
const key = "key_00000000000000000000000001"
const rules = {
  semantics: "envelope/1",
  rules: [{ id: "large", outcome: "deny", when: [], reason: "Above 500 a person decides." }]
}
const digest = toHex(nodeCrypto.sha256(partBytes(rules)))

const decision = (status: string, more: JsonObject = {}): SampleRecord => ({
  kind: "decision.witnessed",
  body: {
    action: "refund",
    agent_id: agent(1),
    agent_status: "active",
    client_ref: "a",
    kind: "tool_call",
    status,
    writer: key,
    ...more
  }
})
const evaluation = (outcome: string, matched: string, more: JsonObject = {}): SampleRecord => ({
  kind: "evaluation.made",
  body: {
    agent_id: agent(1),
    layers: [{ digest, envelope_id: envelope, version: 1 }],
    matched_rule: matched,
    mode: "enforced",
    outcome,
    writer: key,
    ...more
  }
})

/** `say` wraps what a stranger wrote: names, reasons, subjects. */
export const sampleRecords = (say: (text: string) => string = (text) => text): ReadonlyArray<SampleRecord> => [
  {
    kind: "principal.seen",
    body: { kind: "user", principal_id: person(1) },
    parts: { identity: { issuer: "i", subject: say("ann") } }
  },
  { kind: "principal.seen", body: { kind: "user", principal_id: person(2) }, parts: { identity: null } },
  {
    kind: "agent.registered",
    body: { agent_id: agent(1), autonomy_tier: "L1", writer: person(1) },
    parts: { owner: { owner_email: "ada@example.org", owner_name: say("Ada") }, profile: { name: say("refund-bot") } }
  },
  {
    kind: "agent.registered",
    body: { agent_id: agent(2), autonomy_tier: "L1", writer: person(1) },
    parts: { profile: null }
  },
  {
    kind: "envelope.drafted",
    body: {
      agent_id: agent(1),
      authors: [person(1)],
      digest,
      envelope_id: envelope,
      revision: 0,
      version: 1,
      writer: person(1)
    },
    parts: { envelope: rules, profile: { name: say("Refunds") } }
  },
  {
    kind: "envelope.published",
    body: {
      agent_id: agent(1),
      approver: person(2),
      authors: [person(1)],
      change: "loosens",
      digest,
      envelope_id: envelope,
      mode: "enforced",
      version: 1,
      writer: person(2)
    },
    parts: { envelope: rules }
  },
  decision("ok", { mode: "enforced", decided_by: "server", capture: "framework_hook" }),
  decision("intended", { mode: "enforced", decided_by: "fail_open" }),
  decision("error"),
  { kind: "decision.settled", body: { agent_id: agent(1), decision_seq: 8, status: "ok", writer: key } },
  evaluation("allow", "small"),
  evaluation("deny", "large"),
  evaluation("deny", "large"),
  evaluation("deny", "@default"),
  evaluation("deny", "other"),
  evaluation("deny", "large", { mode: "shadow" }),
  {
    kind: "waiver.granted",
    body: {
      envelope_id: envelope,
      expires_at: "2026-12-01T00:00:00.000Z",
      requested_by: person(1),
      rule_id: "large",
      version: 1,
      waiver_id: "wvr_00000000000000000000000001",
      writer: person(2)
    },
    parts: { waiver: { reason: say("Black Friday"), unless: [] } }
  },
  {
    kind: "agent.suspended",
    body: { agent_id: agent(1), reason: "manual", writer: person(1) },
    parts: { reason: say("It refunds twice") }
  },
  { kind: "envelope.withdrawn", body: { envelope_id: envelope, writer: person(1) }, parts: { reason: null } },
  {
    kind: "capture.gap",
    body: {
      agent_id: agent(1),
      count: 4,
      from: "2026-11-21T00:00:00.000Z",
      reason: "crash",
      to: "2026-11-21T00:01:00.000Z",
      writer: key
    }
  },
  { kind: "part.erased", body: { name: "profile", reason: "subject_request", seq: 4 }, parts: { authority: null } }
]

const review = "rev_00000000000000000000000001"

/** An action that the person who minted the requesting key approves, 61 seconds of other records later. */
export const sampleApproval: ReadonlyArray<SampleRecord> = [
  {
    kind: "ingest_key.minted",
    body: { key_id: key, max_autonomy_tier: "L1", writer: person(1) },
    parts: { profile: { name: "worker", org_unit: "payments" } }
  },
  evaluation("require_review", "large", {
    evaluation_id: "evl_00000000000000000000000001",
    review_id: review
  }),
  {
    kind: "review.opened",
    body: { agent_id: agent(1), evaluation_id: "evl_00000000000000000000000001", review_id: review, writer: key }
  },
  ...Array.from({ length: 60 }, (): SampleRecord => decision("ok")),
  {
    kind: "review.resolved",
    body: {
      agent_id: agent(1),
      approvals_given: 1,
      approvals_needed: 1,
      resolution: "approve",
      review_id: review,
      writer: person(1)
    },
    parts: { reason: "The order is known." }
  }
].map((record) => (record.kind === "evaluation.made" ? { ...record, parts: { action: "refund" } } : record))
