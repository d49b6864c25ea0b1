/** Cases on refused commits. */
import assert from "node:assert/strict"
import type { ChangeSet, Conflict, StorageApi } from "@flyball/core/storage"
import { Effect } from "effect"
import { observe } from "../observe.ts"
import { storageCase } from "../storage-case.ts"
import {
  begin,
  checkChain,
  digest,
  draft,
  endpoint,
  erasedDraft,
  event,
  genesis,
  idempotentDraft,
  part,
  put,
  refused
} from "./given.ts"

const HOUR_MS = 3_600_000

const scene = { collections: ["things"], counters: ["used"], once: [{ scope: "agt_1", keys: ["k1", "k2", "k3"] }] }

/** A chain of two records with a document, a part and a once key. */
const furnish = Effect.fnUntraced(function* (storage: StorageApi) {
  yield* begin(storage)
  yield* storage.commit({
    puts: [put("t1", { n: 1 }, { keys: { colour: "red" }, unique: { name: "one" } }), endpoint("whk_1")],
    records: [{ ...idempotentDraft("k1", "a"), parts: [part("args", "{}"), part("result", "1")] }],
    events: [event()],
    counts: [{ name: "used", add: 3 }]
  })
})

/** Valid changes that each refused ChangeSet below carries beside its conflict. */
const cargo: ChangeSet = {
  puts: [put("t9", { n: 9 }, { keys: { colour: "red" }, unique: { name: "nine" } })],
  records: [{ ...idempotentDraft("k9", "9"), agentId: "agt_9", parts: [part("args", "nine")] }, erasedDraft(1, "args")],
  erase: [{ seq: 1, name: "args" }],
  events: [event({ n: 9 })],
  counts: [{ name: "used", add: 1 }]
}

/** One refusal of each kind, with cargo. */
const refusals: ReadonlyArray<{ readonly kind: Conflict["_tag"]; readonly change: ChangeSet }> = [
  { kind: "Version", change: { ...cargo, expects: [{ collection: "things", id: "t1", version: 2 }] } },
  { kind: "Version", change: { ...cargo, puts: [...(cargo.puts ?? []), put("t1")] } },
  { kind: "Unique", change: { ...cargo, puts: [...(cargo.puts ?? []), put("t2", {}, { unique: { name: "one" } })] } },
  { kind: "IdempotencyKey", change: { ...cargo, records: [...(cargo.records ?? []), idempotentDraft("k1", "b")] } },
  { kind: "IdempotencyKey", change: { ...cargo, records: [...(cargo.records ?? []), idempotentDraft("k9", "8")] } },
  {
    kind: "Part",
    change: {
      ...cargo,
      records: [...(cargo.records ?? []), erasedDraft(0, "args")],
      erase: [...(cargo.erase ?? []), { seq: 0, name: "args" }]
    }
  },
  {
    kind: "Delivery",
    change: {
      ...cargo,
      moves: [{ id: "dlv_none", from: { state: "pending", attempts: 0 }, to: { state: "cancelled" } }]
    }
  },
  { kind: "Count", change: { ...cargo, counts: [{ name: "used", add: 2, atMost: 4 }] } },
  { kind: "Event", change: { ...cargo, again: [{ eventId: "evt_none", endpointId: "whk_1" }] } },
  { kind: "Late", change: { ...cargo, sealBeforeMs: 0 } },
  { kind: "NotEmpty", change: { ...cargo, expectEmpty: true, records: [genesis, ...(cargo.records ?? [])] } }
]

/** Conflicts: when, which, and that nothing else happens. */
export const conflictCases = [
  storageCase(
    "a put at another version is refused, and the conflict names both versions",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [put("t1", { n: 1 })] })
      yield* storage.commit({ puts: [put("t1", { n: 2 }, { expectedVersion: 1 })] })
      for (const [id, expected, found] of [
        ["t1", 0, 2],
        ["t1", 1, 2],
        ["t1", 3, 2],
        ["t2", 1, 0]
      ] as const) {
        assert.deepEqual(yield* refused(storage, { puts: [put(id, {}, { expectedVersion: expected })] }), [
          { _tag: "Version", collection: "things", id, expected, found }
        ])
      }
      assert.deepEqual((yield* storage.get("things", "t1"))?.body, { n: 2 })
      assert.equal(yield* storage.get("things", "t2"), null)
    })
  ),
  storageCase(
    "a put that expects no version never conflicts, and a put that expects one conflicts with it",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [put("t1", { n: 1 }, { expectedVersion: null, unique: { name: "one" } })] })
      yield* storage.commit({ puts: [put("t1", { n: 2 }, { expectedVersion: 1, unique: { name: "one" } })] })
      yield* Effect.all(
        Array.from({ length: 10 }, (_, n) =>
          storage.commit({ puts: [put("t1", { n }, { expectedVersion: null, unique: { name: "one" } })] })
        ),
        { concurrency: "unbounded" }
      )
      assert.equal((yield* storage.get("things", "t1"))?.version, 12)
      assert.deepEqual(
        (yield* storage.find("things", "name", "one")).map(({ id }) => id),
        ["t1"]
      )
      assert.deepEqual(yield* refused(storage, { puts: [put("t1", {}, { expectedVersion: 2 })] }), [
        { _tag: "Version", collection: "things", id: "t1", expected: 2, found: 12 }
      ])
      assert.deepEqual(
        (yield* refused(storage, { puts: [put("t2", {}, { expectedVersion: null, unique: { name: "one" } })] })).map(
          ({ _tag }) => _tag
        ),
        ["Unique"]
      )
    })
  ),
  storageCase(
    "a document is deleted at its version with its keys, and a put in the same ChangeSet may reuse them",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({
        puts: [
          put("t1", { n: 1 }, { unique: { name: "one" }, keys: { colour: "red" } }),
          put("t2", {}, { keys: { colour: "red" } })
        ]
      })
      const gone = { collection: "things", id: "t1" }
      for (const version of [2, 7])
        assert.deepEqual(yield* refused(storage, { deletes: [{ ...gone, version }] }), [
          { _tag: "Version", ...gone, expected: version, found: 1 }
        ])
      // Read before, so that a cache of what was read must notice.
      assert.deepEqual(
        [
          (yield* storage.get("things", "t1"))?.version,
          (yield* storage.find("things", "name", "one")).length,
          (yield* storage.find("things", "colour", "red")).length
        ],
        [1, 1, 2]
      )
      yield* storage.commit({ deletes: [{ ...gone, version: 1 }] })
      assert.equal(yield* storage.get("things", "t1"), null)
      assert.deepEqual(yield* storage.find("things", "name", "one"), [])
      assert.deepEqual(
        (yield* storage.list("things")).map(({ id }) => id),
        ["t2"]
      )
      assert.deepEqual(
        (yield* storage.find("things", "colour", "red")).map(({ id }) => id),
        ["t2"]
      )
      assert.deepEqual(yield* refused(storage, { deletes: [{ ...gone, version: 1 }] }), [
        { _tag: "Version", ...gone, expected: 1, found: 0 }
      ])
      // In one group: put, gone, and its unique value another's.
      const exits = yield* Effect.all(
        [
          storage.commit({ puts: [put("t3", {}, { unique: { name: "three" } })] }),
          storage.commit({ deletes: [{ collection: "things", id: "t3", version: 1 }] }),
          storage.commit({ puts: [put("t4", {}, { unique: { name: "three" } })] }),
          storage.commit({ deletes: [{ collection: "things", id: "t2", version: 1 }] }),
          storage.commit({ puts: [put("t2", { again: true })] })
        ].map((commit) => Effect.result(commit)),
        { concurrency: "unbounded" }
      )
      assert.deepEqual(
        exits.map(({ _tag }) => _tag),
        ["Success", "Success", "Success", "Success", "Success"]
      )
      assert.deepEqual(
        (yield* storage.list("things")).map(({ id, version }) => [id, version]),
        [
          ["t2", 1],
          ["t4", 1]
        ]
      )
      assert.deepEqual(
        (yield* storage.find("things", "name", "three")).map(({ id }) => id),
        ["t4"]
      )
      yield* storage.commit({
        puts: [put("t5", {}, { unique: { name: "one" } })],
        deletes: [{ collection: "things", id: "t4", version: 1 }]
      })
      assert.deepEqual(
        (yield* storage.list("things")).map(({ id }) => id),
        ["t2", "t5"]
      )
    })
  ),
  storageCase(
    "a document that is only expected must have its version, or be absent",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [put("t1")] })
      yield* storage.commit({
        expects: [
          { collection: "things", id: "t1", version: 1 },
          { collection: "things", id: "t2", version: 0 },
          { collection: "none", id: "t1", version: 0 }
        ],
        puts: [put("t3")]
      })
      assert.equal((yield* storage.get("things", "t1"))?.version, 1)
      const conflicts = yield* refused(storage, {
        expects: [
          { collection: "things", id: "t1", version: 0 },
          { collection: "things", id: "t2", version: 1 },
          { collection: "things", id: "t3", version: 2 }
        ]
      })
      assert.deepEqual(conflicts, [
        { _tag: "Version", collection: "things", id: "t1", expected: 0, found: 1 },
        { _tag: "Version", collection: "things", id: "t2", expected: 1, found: 0 },
        { _tag: "Version", collection: "things", id: "t3", expected: 2, found: 1 }
      ])
    })
  ),
  storageCase(
    "a document may be expected and put in one ChangeSet",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [put("t1")] })
      yield* storage.commit({
        expects: [{ collection: "things", id: "t1", version: 1 }],
        puts: [put("t1", { n: 2 }, { expectedVersion: 1 })]
      })
      assert.equal((yield* storage.get("things", "t1"))?.version, 2)
    })
  ),
  storageCase(
    "conflicts of every kind are collected, in order",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* furnish(storage)
      const late = yield* storage.asOf
      const conflicts = yield* refused(storage, {
        expectEmpty: true,
        sealBeforeMs: late.ms,
        expects: [{ collection: "things", id: "t1", version: 7 }],
        puts: [
          put("t1"),
          put("t2", {}, { unique: { name: "two" } }),
          put("t3", {}, { unique: { name: "two" } }),
          put("t4", {}, { expectedVersion: 4 })
        ],
        records: [
          genesis,
          idempotentDraft("k1", "b"),
          idempotentDraft("k2", "c"),
          idempotentDraft("k1", "a"),
          idempotentDraft("k2", "d"),
          erasedDraft(1, "missing"),
          erasedDraft(9, "args")
        ],
        erase: [
          { seq: 1, name: "missing" },
          { seq: 9, name: "args" }
        ],
        events: [event()],
        counts: [
          { name: "other", add: 1, atMost: 1 },
          { name: "used", add: 1, atMost: 3 }
        ],
        moves: [{ id: "dlv_none", from: { state: "pending", attempts: 2 }, to: { state: "cancelled" } }],
        again: [{ eventId: "evt_none", endpointId: "whk_1" }]
      })
      const [, { atMs }] = conflicts as [unknown, { readonly atMs: number }]
      assert.ok(atMs >= late.ms)
      assert.deepEqual(conflicts, [
        { _tag: "NotEmpty" },
        { _tag: "Late", beforeMs: late.ms, atMs },
        { _tag: "Version", collection: "things", id: "t1", expected: 7, found: 1 },
        { _tag: "Version", collection: "things", id: "t1", expected: 0, found: 1 },
        { _tag: "Version", collection: "things", id: "t4", expected: 4, found: 0 },
        { _tag: "Unique", collection: "things", key: "name", value: "two", id: "t2" },
        { _tag: "IdempotencyKey", index: 1, scope: "agt_1", key: "k1", seq: 1 },
        { _tag: "IdempotencyKey", index: 4, scope: "agt_1", key: "k2", seq: -1 },
        { _tag: "Part", seq: 1, name: "missing", found: "missing" },
        { _tag: "Part", seq: 9, name: "args", found: "missing" },
        { _tag: "Count", name: "used", value: 3, atMost: 3 },
        { _tag: "Delivery", id: "dlv_none", expected: { state: "pending", attempts: 2 }, found: null },
        { _tag: "Event", id: "evt_none" }
      ])
    })
  ),
  ...refusals.map(({ kind, change }, index) =>
    storageCase(
      `a refused commit leaves no trace (${kind}, ${index + 1} of ${refusals.length})`,
      Effect.fnUntraced(function* (storage: StorageApi) {
        yield* furnish(storage)
        const before = yield* observe(storage, scene)
        const conflicts = yield* refused(storage, change)
        assert.deepEqual(
          conflicts.map(({ _tag }) => _tag),
          [kind]
        )
        assert.deepEqual(yield* observe(storage, scene), before)
        assert.deepEqual(yield* storage.once("agt_1", ["k9"]), [])
        assert.deepEqual(yield* storage.find("things", "name", "nine"), [])
        assert.deepEqual(
          (yield* storage.find("things", "colour", "red")).map(({ id }) => id),
          ["t1"]
        )
        assert.deepEqual(yield* storage.records({ agentId: "agt_9", limit: 10 }), [])
      })
    )
  ),
  storageCase(
    "a commit with sealBeforeMs is sealed before that time, or refused once it has come",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const { ms } = yield* storage.asOf
      const inTime = yield* storage.commit({ records: [draft()], puts: [put("t1")], sealBeforeMs: ms + HOUR_MS })
      assert.ok(inTime.head.atMs < ms + HOUR_MS)
      // The time of the head has come, whatever the clock says.
      const conflicts = yield* refused(storage, { puts: [put("t2")], sealBeforeMs: inTime.head.atMs })
      assert.deepEqual(
        conflicts.map(({ _tag }) => _tag),
        ["Late"]
      )
      assert.equal(yield* storage.get("things", "t2"), null)
      // One that is late spoils nothing of those that it shares a group with.
      const [late, other] = yield* Effect.all(
        [
          Effect.result(storage.commit({ records: [draft()], sealBeforeMs: ms })),
          Effect.result(storage.commit({ records: [draft()], sealBeforeMs: ms + HOUR_MS }))
        ],
        { concurrency: "unbounded" }
      )
      assert.deepEqual([late._tag, other._tag], ["Failure", "Success"])
      assert.equal(yield* checkChain(storage), 3)
    })
  ),
  storageCase(
    "after a refusal the chain continues without a gap, and the refused keys and values are free",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* furnish(storage)
      for (const { change } of refusals) yield* refused(storage, change)
      const receipt = yield* storage.commit(cargo)
      assert.deepEqual(
        receipt.records.map(({ seq, duplicate }) => [seq, duplicate]),
        [
          [2, false],
          [3, false]
        ]
      )
      assert.deepEqual(yield* storage.once("agt_1", ["k9"]), [{ key: "k9", seq: 2, digest: digest("9") }])
      assert.deepEqual(
        (yield* storage.find("things", "name", "nine")).map(({ version }) => version),
        [1]
      )
    })
  ),
  storageCase(
    "an empty chain is refused without genesis, with all other conflicts",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const conflicts = yield* refused(storage, { puts: [put("t1", {}, { expectedVersion: 3 })], records: [draft()] })
      assert.deepEqual(conflicts, [
        { _tag: "Empty" },
        { _tag: "Version", collection: "things", id: "t1", expected: 3, found: 0 }
      ])
      assert.equal(yield* storage.head, null)
    })
  )
]
