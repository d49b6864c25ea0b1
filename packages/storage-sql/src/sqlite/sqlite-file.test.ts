import { spawn } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { ReadFault, StorageApi, StorageChoice, StorageConflict } from "@flyball/core/storage"
import { layerOf, Storage } from "@flyball/core/storage"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { afterAll } from "vitest"
import { migrations } from "./migrations.ts"
import { makeStorage, sqliteStorage } from "./storage.ts"
import { openThreads } from "./thread/threads.ts"
import type { WorkerThread } from "./thread/worker-thread.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-sqlite-"))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const newFile = () => join(folder, `${files++}.db`)

/** Opens a store, uses it, and closes it. */
const using = <A, E>(choice: StorageChoice, use: (storage: StorageApi) => Effect.Effect<A, E>) =>
  Effect.flatMap(Storage, use).pipe(Effect.provide(layerOf(choice)))

const genesis = { kind: "chain.genesis", body: {}, parts: [], agentId: null }
const draft = (text: string) => ({
  kind: "decision.witnessed",
  body: {},
  parts: [{ name: "args", bytes: Buffer.from(text) }],
  agentId: "agt_1"
})
const begin = (storage: StorageApi) => storage.commit({ expectEmpty: true, records: [genesis] })

/** True when bytes of this text are in any file of the database. */
const inFiles = (file: string, text: string): boolean =>
  [file, `${file}-wal`].some((path) => existsSync(path) && readFileSync(path).includes(text))

/** The operations that are sent to a thread from now on, in order. */
const operationsSentTo = (thread: WorkerThread): ReadonlyArray<string> => {
  const sent: Array<string> = []
  const send = thread.send.bind(thread)
  thread.send = (request, done) => {
    sent.push(request.op)
    send(request, done)
  }
  return sent
}

describe("a SQLite file", () => {
  it.effect("is not created beside the write-ahead log of a missing file, which holds its last commits", () =>
    Effect.gen(function* () {
      const file = newFile()
      yield* using(sqliteStorage({ file }), begin)
      const log = Buffer.alloc(4_096, 7)
      writeFileSync(`${file}-wal`, log)
      for (const lose of [() => rmSync(file), () => writeFileSync(file, "")]) {
        lose()
        const refused = yield* Effect.flip(using(sqliteStorage({ file }), (storage) => storage.head))
        assert.match(refused.message, /is not there or empty, and its log .*-wal is there/)
        assert.deepStrictEqual(readFileSync(`${file}-wal`), log)
      }
      rmSync(`${file}-wal`)
      assert.isNull(yield* using(sqliteStorage({ file }), (storage) => storage.head))
    })
  )

  it.effect("that is replaced, moved or deleted while in use refuses commits, and continues when it is back", () =>
    Effect.gen(function* () {
      const file = newFile()
      yield* using(sqliteStorage({ file }), begin)
      copyFileSync(file, `${file}-old`)
      yield* using(
        sqliteStorage({ file }),
        Effect.fnUntraced(function* (storage) {
          yield* storage.commit({ records: [draft("one")] })
          renameSync(file, `${file}-moved`)
          for (const lose of [() => undefined, () => copyFileSync(`${file}-old`, file)]) {
            lose()
            const writes: ReadonlyArray<Effect.Effect<unknown, ReadFault | StorageConflict>> = [
              storage.commit({ records: [draft("two")] }),
              storage.lease("signer", "me", 1_000),
              storage.outbox.claim({ leaseMs: 1_000, limit: 1, perEndpoint: 1 })
            ]
            for (const write of writes) {
              const fault = yield* Effect.flip(write)
              assert.match(
                fault.message,
                /the file \S+ is not the one that was opened: it was replaced, moved or deleted while it was in use/
              )
              assert.deepInclude(fault, { _tag: "StorageUnavailable", wrote: "no" })
            }
          }
          assert.strictEqual((yield* storage.head)?.seq, 1)
          renameSync(`${file}-moved`, file)
          assert.strictEqual((yield* storage.commit({ records: [draft("two")] })).head.seq, 2)
        })
      )
      assert.strictEqual((yield* using(sqliteStorage({ file }), (storage) => storage.head))?.seq, 2)
    })
  )

  it.effect("whose folder becomes inaccessible refuses commits", () =>
    Effect.gen(function* () {
      const folder = join(newFile(), "..", "inner")
      mkdirSync(folder)
      yield* using(
        sqliteStorage({ file: join(folder, "chain.db") }),
        Effect.fnUntraced(function* (storage) {
          yield* begin(storage)
          for (const lose of [() => writeFileSync(folder, ""), () => symlinkSync("inner", folder)]) {
            renameSync(folder, `${folder}-moved`)
            lose()
            assert.deepInclude(yield* Effect.flip(storage.commit({ records: [draft("two")] })), {
              _tag: "StorageUnavailable",
              wrote: "no"
            })
            rmSync(folder)
            renameSync(`${folder}-moved`, folder)
          }
          assert.strictEqual((yield* storage.commit({ records: [draft("two")] })).head.seq, 1)
        })
      )
    })
  )

  it.effect("keeps everything when it is reopened", () =>
    Effect.gen(function* () {
      const file = newFile()
      const receipt = yield* using(sqliteStorage({ file }), (storage) =>
        Effect.andThen(
          begin(storage),
          storage.commit({
            records: Array.from({ length: 300 }, (_, n) => draft(`part ${n}`)),
            puts: [{ collection: "things", id: "t1", expectedVersion: 0, body: { a: 1 } }]
          })
        )
      )
      assert.isFalse(existsSync(`${file}-wal`), "closing copies the log back and removes it")
      yield* using(
        sqliteStorage({ file }),
        Effect.fnUntraced(function* (storage) {
          assert.deepStrictEqual(yield* storage.head, receipt.head)
          assert.deepStrictEqual((yield* storage.get("things", "t1"))?.body, { a: 1 })
          const next = yield* storage.commit({ records: Array.from({ length: 300 }, () => draft("more")) })
          assert.strictEqual(next.head.seq, 600)
          assert.strictEqual((yield* storage.hashes(0, 0, 1000)).length, 601 * 32)
          assert.strictEqual((yield* storage.hashes(1, 0, 10)).length, 2 * 32)
        })
      )
    })
  )

  it.effect("returns one shared document to many readers, none of which can change it", () =>
    using(
      sqliteStorage({ file: newFile() }),
      Effect.fnUntraced(function* (storage) {
        yield* begin(storage)
        yield* storage.commit({
          puts: [{ collection: "things", id: "t1", expectedVersion: 0, body: { list: [{ a: 1 }] } }]
        })
        for (let read = 0; read < 3; read++) {
          const found = (yield* storage.get("things", "t1"))!
          assert.throws(() => (found.body["list"] as Array<unknown>).push("spoilt"), TypeError)
          assert.throws(() => Object.assign((found.body["list"] as Array<object>)[0]!, { a: 2 }), TypeError)
          assert.deepStrictEqual(found.body, { list: [{ a: 1 }] })
        }
      })
    )
  )

  it.effect("has one writer: a second is refused with what to do, and may open the file after the first closed", () =>
    Effect.gen(function* () {
      const file = newFile()
      const second = using(sqliteStorage({ file, busyTimeoutMs: 0 }), (storage) => storage.head)
      const fault = yield* using(sqliteStorage({ file }), () => Effect.flip(second))
      assert.strictEqual(fault._tag, "StorageUnavailable")
      assert.match(
        fault.message,
        new RegExp(
          /another process has the database open for writing; stop it.*if it is this /.source +
            /very process, open it once and share it/.source
        )
      )
      assert.isNull(yield* second)
    })
  )

  it.effect(
    "has one writer under all names by symbolic links, with the lock beside the real file",
    () =>
      Effect.gen(function* () {
        const place = join(folder, "linked")
        mkdirSync(join(place, "real"), { recursive: true })
        const file = join(place, "real", "store.db")
        symlinkSync(join("real", "store.db"), join(place, "one.db"))
        symlinkSync(join(place, "one.db"), join(place, "two.db"))
        symlinkSync("real", join(place, "folder"))
        const names = [
          file,
          join(place, "one.db"),
          join(place, "two.db"),
          join(place, "folder", "store.db"),
          join(place, "folder", "..", "one.db")
        ]
        // At first the file is missing, and the links lead to what is to be made.
        for (const name of names.toReversed()) {
          yield* using(sqliteStorage({ file: name }), () =>
            Effect.forEach(
              names,
              Effect.fnUntraced(function* (other) {
                assert.match(
                  (yield* Effect.flip(
                    using(sqliteStorage({ file: other, busyTimeoutMs: 0 }), (storage) => storage.head)
                  )).message,
                  /another process has the database open for writing/,
                  `${other} beside ${name}`
                )
                assert.isNull(yield* using(sqliteStorage({ file: other, readOnly: true }), (storage) => storage.head))
              })
            )
          )
          rmSync(file)
        }
        assert.deepStrictEqual(
          [readdirSync(place).sort(), readdirSync(join(place, "real"))],
          [["folder", "one.db", "real", "two.db"], ["store.db.lock"]]
        )
      }),
    // It opens fifty stores, each in a thread of its own.
    180_000
  )

  it.effect("is none where a folder is: the refusal names a file in it", () =>
    Effect.gen(function* () {
      const place = join(folder, "a-folder")
      mkdirSync(join(place, "more"), { recursive: true })
      const fault = yield* Effect.flip(using(sqliteStorage({ file: place }), begin))
      assert.include(fault.message, `a folder is there. Name a file in it, as ${join(place, "flyball.db")}`)
    })
  )

  it.effect("with a second name (a hard link) is refused under both, for writing and reading, until one is gone", () =>
    Effect.gen(function* () {
      const place = join(folder, "hard-links")
      const file = join(place, "store.db")
      const other = join(place, "other.db")
      mkdirSync(place)
      yield* using(sqliteStorage({ file }), begin)
      const before = readFileSync(file)
      linkSync(file, other)
      symlinkSync(file, join(place, "symbolic.db"))
      for (const name of [file, other, join(place, "symbolic.db")]) {
        // A small store reads and writes over one connection, so that each way of opening is seen by itself.
        for (const how of [{ small: true }, { readOnly: true }]) {
          const fault = yield* Effect.flip(using(sqliteStorage({ file: name, ...how }), (storage) => storage.head))
          assert.deepInclude(fault, { _tag: "StorageUnavailable", wrote: "no" })
          assert.match(
            fault.message,
            name === other
              ? /other.db has 2 names .*\(here: store.db\)/
              : /store.db has 2 names .*\(here: other.db\).*Delete the other names/
          )
        }
      }
      assert.deepStrictEqual(readFileSync(file), before)
      assert.deepStrictEqual(
        readdirSync(place).filter((name) => /-(?:wal|shm)$/.test(name)),
        []
      )
      rmSync(other)
      assert.strictEqual((yield* using(sqliteStorage({ file }), (storage) => storage.head))?.seq, 0)
    })
  )

  it.effect("is opened with the second name that a stopped restore or recovery left", () =>
    Effect.gen(function* () {
      const place = join(folder, "left-links")
      const file = join(place, "store.db")
      mkdirSync(place)
      yield* using(sqliteStorage({ file }), begin)
      for (const end of ["partial-0123456789ab", "retired-1"]) {
        linkSync(file, `${file}.${end}`)
        for (const readOnly of [false, true])
          assert.strictEqual((yield* using(sqliteStorage({ file, readOnly }), (storage) => storage.head))?.seq, 0)
        rmSync(`${file}.${end}`)
      }
    })
  )

  it.effect("is not opened through a dangling link", () =>
    Effect.gen(function* () {
      const name = (which: string) => join(folder, `${which}-circle.db`)
      symlinkSync(name("a"), name("b"))
      symlinkSync(name("b"), name("a"))
      for (const file of [name("a"), join(folder, "missing", "store.db")]) {
        assert.match(
          (yield* Effect.flip(using(sqliteStorage({ file }), (storage) => storage.head))).message,
          /was not opened: the file cannot be written or opened/
        )
      }
    })
  )

  it.effect("is created once when several open it at once: one gets it, the others are refused", () =>
    Effect.gen(function* () {
      const file = newFile()
      const open = Effect.exit(Effect.scoped(Effect.andThen(openThreads({ file, busyTimeoutMs: 0 }), Effect.yieldNow)))
      const held = yield* Effect.forEach([1, 2, 3], () => open, { concurrency: "unbounded" })
      assert.isTrue(held.some(Exit.isSuccess))
      for (const exit of held) if (Exit.isFailure(exit)) assert.match(String(exit.cause), /open for writing/)
      yield* using(sqliteStorage({ file }), begin)
    })
  )

  it.effect("can be read beside its writer without blocking it; the reader writes nothing", () =>
    Effect.gen(function* () {
      const file = newFile()
      yield* using(sqliteStorage({ file }), (writer) =>
        Effect.andThen(
          begin(writer),
          using(
            sqliteStorage({ file, readOnly: true }),
            Effect.fnUntraced(function* (reader) {
              yield* writer.commit({ records: [draft("x")] })
              assert.strictEqual((yield* reader.head)?.seq, 1)
              for (const write of [
                reader.commit({ records: [draft("y")] }),
                reader.lease("signer", "me", 1000),
                reader.releaseLease("signer", "me")
              ]) {
                const fault = yield* Effect.flip(write)
                assert.strictEqual(fault._tag, "StorageUnavailable")
                assert.match(fault.message, /reading only.*Nothing was written/)
              }
            })
          )
        )
      )
    })
  )

  it.effect("is opened for reading only when it exists", () =>
    Effect.gen(function* () {
      const file = newFile()
      const fault = yield* Effect.flip(using(sqliteStorage({ file, readOnly: true }), (storage) => storage.head))
      assert.match(fault.message, /was not opened: the file cannot be written or opened/)
      assert.isFalse(existsSync(file))
    })
  )

  it.effect("with a newer schema is refused, and with an unfinished one is not read", () =>
    Effect.gen(function* () {
      const file = newFile()
      yield* using(sqliteStorage({ file }), begin)
      const setVersion = (version: number) => {
        const db = new DatabaseSync(file)
        db.exec(`PRAGMA user_version = ${version}`)
        db.close()
      }
      setVersion(migrations.length + 1)
      for (const readOnly of [false, true]) {
        const fault = yield* Effect.flip(using(sqliteStorage({ file, readOnly }), (storage) => storage.head))
        assert.match(
          fault.message,
          new RegExp(
            `the file has schema ${migrations.length + 1} and this version of Flyball knows ${migrations.length}`
          )
        )
      }
      setVersion(migrations.length - 1)
      assert.match(
        (yield* Effect.flip(using(sqliteStorage({ file, readOnly: true }), (storage) => storage.head))).message,
        /run flyball migrate, or start the server/
      )
    })
  )

  it.effect("of another program is refused and left unchanged", () =>
    Effect.gen(function* () {
      const file = newFile()
      const db = new DatabaseSync(file)
      db.exec("CREATE TABLE theirs (a)")
      db.close()
      const before = readFileSync(file)
      assert.match(
        (yield* Effect.flip(using(sqliteStorage({ file }), (storage) => storage.head))).message,
        /another program/
      )
      assert.deepStrictEqual(readFileSync(file), before)
      writeFileSync(file, "this is a letter, not a database. ".repeat(100))
      const fault = yield* Effect.flip(using(sqliteStorage({ file }), (storage) => storage.head))
      assert.strictEqual(fault._tag, "StorageCorrupt")
    })
  )

  it.effect("keeps no bytes of an erased part, of its digest, or of an overwritten document", () =>
    Effect.gen(function* () {
      const file = newFile()
      yield* using(
        sqliteStorage({ file }),
        Effect.fnUntraced(function* (storage) {
          yield* begin(storage)
          const small = "a person's own words"
          const large = "spread over many pages ".repeat(2000)
          const digest = Buffer.from("0123456789abcdef".repeat(4), "hex")
          yield* storage.commit({
            records: [
              draft("before"),
              {
                ...draft(large),
                parts: [
                  { name: "args", bytes: Buffer.from(large) },
                  { name: "result", bytes: Buffer.from(small) }
                ],
                once: { scope: "agt_1", key: "k1", digest: digest.toString("hex") }
              },
              draft("after")
            ],
            puts: [
              {
                collection: "agents",
                id: "a1",
                expectedVersion: 0,
                body: { owner: "Erika Mustermann" },
                keys: { owner: "Erika Mustermann" }
              }
            ]
          })
          const salt = Buffer.from((yield* storage.parts([2]))[0]!.salt!)
          assert.isTrue(
            inFiles(file, small) &&
              inFiles(file, "Erika") &&
              readFileSync(`${file}-wal`).includes(salt) &&
              readFileSync(`${file}-wal`).includes(digest)
          )
          yield* storage.commit({
            records: ["args", "result"].map((name) => ({
              kind: "part.erased",
              body: { name, reason: "data_subject_request", seq: 2 },
              parts: [],
              agentId: null
            })),
            erase: [
              { seq: 2, name: "args" },
              { seq: 2, name: "result" }
            ],
            forget: [{ scope: "agt_1", key: "k1" }],
            puts: [{ collection: "agents", id: "a1", expectedVersion: 1, body: { owner: null } }]
          })
          assert.strictEqual(statSync(`${file}-wal`).size, 0)
          for (const gone of [small, "spread over", "Erika"]) assert.isFalse(inFiles(file, gone), gone)
          assert.isFalse(readFileSync(file).includes(salt) || readFileSync(file).includes(digest))
          assert.isTrue(inFiles(file, "before") && inFiles(file, "after"))
        })
      )
    })
  )
})

describe("a storage worker that dies", () => {
  it.effect("fails the calls under way with an unknown outcome, and the next call starts another worker", () =>
    Effect.gen(function* () {
      const file = newFile()
      const threads = yield* openThreads({ file, busyTimeoutMs: 60_000 })
      const storage = yield* makeStorage(threads)
      yield* begin(storage)
      const sent = operationsSentTo(threads.writer!)
      // A lock from outside holds the commit in flight until the thread is to end.
      const outside = new DatabaseSync(file)
      outside.exec("BEGIN IMMEDIATE")
      const inFlight = yield* Effect.forkChild(
        Effect.forEach([1, 2], (n) => Effect.flip(storage.commit({ records: [draft(`lost ${n}`)] })), {
          concurrency: "unbounded"
        }),
        { startImmediately: true }
      )
      const leased = yield* Effect.forkChild(Effect.flip(storage.lease("signer", "me", 1000)), {
        startImmediately: true
      })
      // A batch behind a quick one waits in the host for a turn. One that still waits there when the thread is gone
      // goes to the next thread, and is written.
      for (let turn = 0; !sent.includes("commit") || !sent.includes("lease"); turn++) {
        assert.isBelow(turn, 1_000_000, `sent: ${sent.join(", ")}`)
        yield* Effect.yieldNow
      }
      const ended = threads.writer!.crash()
      outside.close()
      for (const fault of [...(yield* Fiber.join(inFlight)), yield* Fiber.join(leased)]) {
        assert.strictEqual(fault._tag, "StorageUnavailable")
        assert.match(fault.message, /its thread died .*is unknown/)
      }
      yield* Effect.promise(() => ended)
      const { head } = yield* storage.commit({ records: [draft("after")] })
      assert.deepStrictEqual(yield* storage.head, head)
      assert.strictEqual((yield* storage.records({ limit: 10 })).length, head.seq + 1)
      yield* Effect.promise(() => threads.reader.crash())
      assert.deepStrictEqual(yield* storage.head, head)
    }).pipe(Effect.scoped)
  )

  it.effect("loses a database in memory, and reports that", () =>
    Effect.gen(function* () {
      const threads = yield* openThreads({ file: ":memory:" })
      const storage = yield* makeStorage(threads)
      yield* begin(storage)
      yield* Effect.promise(() => threads.reader.crash())
      assert.match((yield* Effect.flip(storage.head)).message, /database in memory with it; start anew/)
      assert.match((yield* Effect.flip(begin(storage))).message, /start anew/)
    }).pipe(Effect.scoped)
  )

  it.effect("is refused with a sentence after closing", () =>
    Effect.gen(function* () {
      const storage = yield* using(sqliteStorage({ file: newFile() }), Effect.succeed)
      assert.match((yield* Effect.flip(storage.head)).message, /it was closed/)
      assert.match((yield* Effect.flip(begin(storage))).message, /it was closed/)
    })
  )
})

describe("a process that is killed", () => {
  it.effect("leaves a file with every acknowledged commit, which the next process can open", () =>
    Effect.gen(function* () {
      const file = newFile()
      const code = `
        import { layerOf, Storage } from "@flyball/core/storage"
        import { sqliteStorage } from "@flyball/storage-sql"
        import { ManagedRuntime } from "effect"
        const runtime = ManagedRuntime.make(layerOf(sqliteStorage({ file: process.env.TEST_FILE })))
        const storage = await runtime.runPromise(Storage)
        const parts = [{ name: "args", bytes: new Uint8Array(100) }]
        const draft = (kind) => ({ kind, body: {}, parts, agentId: null })
        await runtime.runPromise(storage.commit({ expectEmpty: true, records: [draft("chain.genesis")] }))
        for (;;) {
          const { head } = await runtime.runPromise(storage.commit({ records: [draft("decision.witnessed")] }))
          process.stdout.write(head.seq + "\\n")
        }`
      const child = spawn(process.execPath, ["--input-type=module", "--eval", code], {
        cwd: import.meta.dirname,
        env: { ...process.env, TEST_FILE: file },
        stdio: ["ignore", "pipe", "inherit"]
      })
      let said = ""
      const closed = new Promise<void>((done) => child.on("close", () => done()))
      const running = new Promise<void>((done) =>
        child.stdout.on("data", (chunk: Buffer) => {
          said += chunk.toString()
          if (said.split("\n").length > 20) done()
        })
      )
      yield* Effect.promise(() => Promise.race([running, closed]))
      const refused = yield* Effect.flip(using(sqliteStorage({ file, busyTimeoutMs: 0 }), (storage) => storage.head))
      assert.match(refused.message, /another process has the database open for writing/)
      child.kill("SIGKILL")
      yield* Effect.promise(() => closed)
      const acknowledged = Number(said.split("\n").at(-2))
      assert.isAtLeast(acknowledged, 19)
      // Read first by someone who may not write: the log that was left behind is read all the same.
      const seen = yield* using(sqliteStorage({ file, readOnly: true }), (storage) => storage.head)
      assert.isAtLeast(seen!.seq, acknowledged)
      yield* using(
        sqliteStorage({ file, busyTimeoutMs: 0 }),
        Effect.fnUntraced(function* (storage) {
          assert.deepStrictEqual(yield* storage.head, seen)
          assert.strictEqual((yield* storage.commit({ records: [draft("next")] })).head.seq, seen!.seq + 1)
        })
      )
    })
  )
})
