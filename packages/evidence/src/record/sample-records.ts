/** Records to try scanners on. For tests only. */
import { toHex, utf8 } from "../bytes.ts"
import type { Crypto } from "../crypto.ts"
import type { JsonObject } from "../json/value.ts"
import { encodeRecord } from "./encode.ts"
import { formatInstant } from "./instant.ts"
import { NO_RECORD } from "./record.ts"

const START_MS = 1_795_219_200_000

/**
 * A chain of decisions by two agents whose bodies differ in values, in members that are absent, and now and then in
 * kind.
 */
export const sampleChain = (crypto: Crypto, count: number): ReadonlyArray<Uint8Array> => {
  const records: Array<Uint8Array> = []
  let prev = NO_RECORD
  for (let seq = 0; seq < count; seq++) {
    const names = ["args", "labels", "result"].filter((_, i) => (seq >> i) % 3 !== 0)
    const parts = names.map((name) => ({ c: toHex(crypto.sha256(utf8(`${name}${seq}`))), name }))
    const [kind, body] =
      seq === 0
        ? (["chain.genesis", { hash: "sha256-rfc6962", origin: "flyball.example/test", vkeys: [] }] as const)
        : seq % 11 === 5
          ? ([
              "decision.settled",
              { agent_id: "agt_0", decision_seq: seq - 1, status: "ok", writer: "system:host" }
            ] as const)
          : (["decision.witnessed", witnessed(seq)] as const)
    const record = encodeRecord({ at: formatInstant(START_MS + seq * 777), body, kind, parts, prev, seq })
    records.push(record)
    prev = toHex(crypto.leafHash(record))
  }
  return records
}

const witnessed = (seq: number): JsonObject => ({
  action: `tool_${seq % 7}`,
  agent_id: `agt_${seq % 5 === 0 ? 1 : 2}`,
  client_ref: `ref-${seq}`,
  kind: "tool_call",
  ...(seq % 4 === 0 ? {} : { model: "model-a" }),
  ...(seq % 13 === 0 ? { "é\n": ["\u0001", { "😂": null, ﬀ: true }] } : {}),
  run_id: `run-${Math.floor(seq / 9)}`,
  status: seq % 6 === 0 ? "error" : "ok",
  step: seq % 9,
  ...(seq % 3 === 0 ? {} : { usage: { input_tokens: seq * 31, output_tokens: 4 } }),
  writer: "key_00000000000000000000000000"
})
