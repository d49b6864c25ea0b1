/** The command as a user calls it: exit statuses, reports, and what goes where. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { afterAll, describe, expect, it } from "vitest"
import { run } from "./run.ts"

const folder = fileURLToPath(new URL("../../../fixtures/vectors/flyball-format/", import.meta.url))
const golden = (name: string): string =>
  readFileSync(new URL(`../../../fixtures/reports/verify-${name}.txt`, import.meta.url), "utf8")
const pack = (name: string): string => join(folder, name)
const vkey = "flyball.example/acme/prod+512011be+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"
const scratch = mkdtempSync(join(tmpdir(), "flyball-verify-"))
afterAll(() => rmSync(scratch, { recursive: true }))

const call = async (...args: ReadonlyArray<string>) => {
  let out = ""
  let err = ""
  const status = await run(args, {
    out: async (text) => void (out += text),
    err: async (text) => void (err += text),
    nowMs: () => Date.UTC(2026, 10, 21),
    isTerminal: false
  })
  return { status, out, err }
}

describe("the human report", () => {
  const cases: ReadonlyArray<readonly [name: string, status: number, ...args: ReadonlyArray<string>]> = [
    ["good", 0, "valid-full-5.evp", "--vkey", vkey],
    ["tampered", 1, "invalid-record-changed.evp", "--vkey", vkey],
    [
      "truncated",
      2,
      "invalid-truncated.evp",
      "--vkey",
      vkey,
      "--trusted-checkpoint",
      pack("invalid-truncated.checkpoint")
    ],
    ["unpinned", 2, "valid-full-5.evp"]
  ]
  for (const [name, status, file, ...args] of cases) {
    it(`of a pack that is ${name} is the golden text`, async () => {
      const called = await call(pack(file!), ...args)
      expect(called.err).toBe("")
      expect(called.out.replaceAll(folder, "")).toBe(golden(name))
      expect(called.status).toBe(status)
    })
  }
})

describe("a file that is no pack", () => {
  const good = readFileSync(pack("valid-full-5.evp"))
  const cases: ReadonlyArray<readonly [name: string, bytes: Uint8Array, found: string]> = [
    ["HTML", Buffer.from("<html>Sign in</html>"), "HTML or XML"],
    ["JSON", Buffer.from('{"detail":"no"}\n'), "JSON, such as the answer"],
    ["a pack with a byte order mark", Buffer.concat([Buffer.from("\ufeff"), good]), "a byte order mark"],
    ["a pack with CRLF", Buffer.from(good.toString("latin1").replaceAll("\n", "\r\n"), "latin1"), "a carriage return"],
    ["a zip archive", Buffer.concat([Buffer.from("PK\u0003\u0004"), good]), "a zip archive: unpack it first"],
    ["a pack gzipped twice", gzipSync(gzipSync(good)), "gzip within gzip: unpack it once"]
  ]
  for (const [name, bytes, found] of cases)
    it(`is named: ${name}`, async () => {
      const file = join(scratch, "other.evp")
      writeFileSync(file, bytes)
      const { out, status } = await call(file, "--vkey", vkey, "--replay")
      expect(status).toBe(3)
      expect(out).toContain(found)
      expect(out).toContain("none: the file could not be read as an evidence pack.")
      expect(out).not.toContain("not what the pack claims")
    })
})

describe("the JSON report", () => {
  it("has exactly the promised members", async () => {
    const { out, status } = await call(pack("valid-sparse-12-3.evp"), "--vkey", vkey, "--json")
    expect(status).toBe(0)
    const report = JSON.parse(out) as Record<string, object>
    expect(Object.keys(report)).toEqual([
      "file",
      "format",
      "origin",
      "tree_size",
      "verdicts",
      "findings",
      "counts",
      "keys",
      "not_checked",
      "statement",
      "previous",
      "replay",
      "bodies",
      "integrity",
      "assurance",
      "summary",
      "certificate",
      "usage",
      "answer"
    ])
    expect(report).toMatchObject({
      integrity: "integrity ok, authenticity signed_by_pinned_key, completeness sparse_claimed, anchoring none.",
      assurance: { anchoring: "none", witnesses: 0, capture: null, self_approved: null }
    })
    expect(Object.keys(report["verdicts"]!)).toEqual(["integrity", "authenticity", "completeness", "anchoring"])
    expect(report["counts"]).toEqual({
      records: 3,
      parts_disclosed: 0,
      parts_withheld: 1,
      parts_erased: 1,
      ignored_signatures: 0
    })
    expect(report["keys"]).toEqual([
      { key_id: "512011be", name: "flyball.example/acme/prod", role: "log", pinned: true }
    ])
    expect(report).toMatchObject({
      format: "evidence-pack/v1",
      origin: "flyball.example/acme/prod",
      tree_size: 12,
      findings: [],
      previous: null
    })
  })

  it("lists findings with code, line, seq, expected and found", async () => {
    const { out, status } = await call(pack("invalid-time-backwards.evp"), "--vkey", vkey, "--json", "--quiet")
    expect(status).toBe(1)
    const { findings } = JSON.parse(out) as { readonly findings: ReadonlyArray<object> }
    expect(findings).toHaveLength(1)
    expect(Object.keys(findings[0]!)).toEqual(["code", "line", "seq", "expected", "found"])
    expect(findings[0]).toMatchObject({ code: "E_TIME" })
  })
})

describe("the exit status", () => {
  it("is 4 for a call that cannot be right, with a sentence and no report", async () => {
    writeFileSync(join(scratch, "bad-policy"), "quorum nobody\n")
    writeFileSync(join(scratch, "no-note"), "hello\n")
    const file = pack("valid-full-5.evp")
    for (const args of [
      [],
      [file, file],
      [file, "--unknown"],
      [file, "--require", "most"],
      [file, "--max-age", "a day"],
      [file, "--threads", "0"],
      [file, "--threads", "two"],
      [file, "--threads", "1e9"],
      [file, "--vkey", "nonsense"],
      [file, "--vkey"],
      [file, "--vkey", "-x"],
      [file, "--csv", join(scratch, "t.csv"), "--answer", join(scratch, "missing")],
      [file, "--json=yes"],
      [file, "--vkey", vkey.replace("512011be", "512011bf")],
      [file, "--policy", join(scratch, "bad-policy")],
      [file, "--policy", join(scratch, "missing")],
      [file, "--trusted-checkpoint", join(scratch, "no-note")],
      [pack("missing.evp")],
      [folder],
      [file, "--compare", pack("missing.evp")],
      [file, "--require", "full", "--require", "any"],
      [file, "--trusted-checkpoint", file, "--trusted-checkpoint", file],
      [file, "--policy", "/dev/zero"],
      ["/dev/zero"]
    ]) {
      const { err, out, status } = await call(...args)
      expect(status, args.join(" ")).toBe(4)
      expect(out).toBe("")
      expect(err).toMatch(/^flyball-verify: [^\n]*[^.]\.\n$/)
      expect(err).not.toContain("\\u")
    }
    expect(existsSync(join(scratch, "t.csv"))).toBe(false)
  })

  // A file that opens, and whose first byte cannot be read, as on a failing disk.
  it.runIf(existsSync("/proc/self/mem"))(
    "is 4 for a disk that fails while the file is read, with a sentence",
    async () => {
      for (const args of [["/proc/self/mem"], [pack("valid-full-5.evp"), "--compare", "/proc/self/mem"]]) {
        expect(await call(...args)).toEqual({
          status: 4,
          out: "",
          err:
            "flyball-verify: A file could not be read to its end (EIO). Copy it to another disk, and verify " +
            "the copy.\n"
        })
      }
    }
  )

  it("is 3 for a file that is no pack, 2 where more is required than the pack holds", async () => {
    expect((await call(pack("README.md"))).status).toBe(3)
    expect((await call(pack("valid-range-11-4-6.evp"), "--vkey", vkey, "--require", "range")).status).toBe(0)
    expect((await call(pack("valid-full-5.evp"), "--vkey", vkey, "--require", "range")).status).toBe(0)
    const { out, status } = await call(pack("valid-range-11-4-6.evp"), "--vkey", vkey, "--require", "full")
    expect(status).toBe(2)
    expect(out).toContain("A full pack was required")
    expect((await call(pack("valid-full-5.evp"), "--vkey", vkey, "--max-age", "24h")).status).toBe(2)
  })

  it("and the report do not depend on --threads", async () => {
    for (const file of ["valid-full-12.evp.gz", "invalid-record-changed.evp"]) {
      expect(await call(pack(file), "--vkey", vkey, "--json", "--threads", "2")).toEqual(
        await call(pack(file), "--vkey", vkey, "--json", "--threads", "1")
      )
    }
  })

  it("is all that --quiet leaves", async () => {
    expect(await call(pack("valid-full-5.evp"), "--vkey", vkey, "--quiet")).toEqual({ status: 0, out: "", err: "" })
    expect(await call(pack("invalid-cut.evp"), "--quiet")).toEqual({ status: 3, out: "", err: "" })
  })
})

describe("a replay", () => {
  const replayed = async (file: string) => {
    const { out, status } = await call(pack(file), "--vkey", vkey, "--replay", "--json")
    const {
      not_checked: [first],
      replay
    } = JSON.parse(out) as { readonly not_checked: ReadonlyArray<string>; readonly replay: object | null }
    return { first, replay, status }
  }

  it("of a pack without evaluations says that there was none", async () => {
    const { replay, status } = await replayed("valid-full-5.evp")
    expect(status).toBe(0)
    expect(replay).toMatchObject({
      evaluations: 0,
      verdicts: {},
      mismatches: [],
      withheld: [],
      statement: "This pack has no record that is judged, so none was recomputed."
    })
    const { out } = await call(pack("valid-full-12.evp.gz"), "--vkey", vkey, "--replay")
    expect(out).toContain("Evaluations     none.\n")
  })

  it("is not made of a selection, nor of a pack that is itself not in order", async () => {
    expect(await replayed("valid-sparse-12-3.evp")).toMatchObject({
      status: 2,
      replay: null,
      first: expect.stringContaining("needs a full or range pack")
    })
    expect(await replayed("invalid-record-changed.evp")).toMatchObject({
      status: 1,
      replay: null,
      first: expect.stringContaining("not what the pack claims")
    })
    expect((await replayed("invalid-truncated.evp")).status).toBe(0)
  })
})

describe("two packs", () => {
  it("of one history compare well, and undecided is 2", async () => {
    expect(
      (await call(pack("valid-older-6-12.evp"), "--vkey", vkey, "--compare", pack("valid-trusted-10.evp"))).status
    ).toBe(0)
    expect(
      (await call(pack("valid-sparse-12-3.evp"), "--vkey", vkey, "--compare", pack("valid-full-12.evp.gz"))).status
    ).toBe(0)
    const undecided = await call(
      pack("valid-sparse-12-3.evp"),
      "--vkey",
      vkey,
      "--compare",
      pack("valid-range-11-4-6.evp")
    )
    expect(undecided.status).toBe(2)
    expect(undecided.out).toContain("could not be compared")
  })

  it("that contradict each other are shown with both checkpoints", async () => {
    const { out, status } = await call(pack("valid-full-5.evp"), "--vkey", vkey, "--compare", pack("example.evp"))
    expect(status).toBe(1)
    expect(out).toContain("E_SPLIT_VIEW")
    expect(out).toContain("has signed two different histories")
    expect(out.match(/\u2014 flyball\.example\/acme\/prod /g)).toHaveLength(2)
  })
})
