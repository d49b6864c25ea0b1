import { assert, describe, it } from "vitest"
import { isCollector, readOtlpHeaders } from "./otel.ts"
import { readSettings } from "./read.ts"

describe("headers for the collector", () => {
  it.each<[string, { readonly [name: string]: string } | null]>([
    ["authorization=Bearer%20abc", { authorization: "Bearer abc" }],
    ["X-A=1, x-b=a=b", { "x-a": "1", "x-b": "a=b" }],
    ["x-a=1,", { "x-a": "1" }],
    ["x-a=", { "x-a": "" }],
    ["x-a", null],
    ["=1", null],
    ["a b=1", null],
    ["x-a=%zz", null],
    ["x-a=%0d%0ax-b:1", null],
    ["x-a=ä", null],
    ["content-length=1", null],
    ["Host=elsewhere", null]
  ])("%s", (text, headers) => assert.deepStrictEqual(readOtlpHeaders(text), headers))

  it("come from a file too, and neither they nor what is wrong with them is shown", () => {
    const read = readSettings(
      { OTEL_EXPORTER_OTLP_HEADERS_FILE: "/run/headers" },
      () => "authorization=Bearer%20hunter2\n"
    )
    assert.isTrue(read.ok)
    if (read.ok) {
      assert.deepStrictEqual(read.settings.otlpHeaders, { authorization: "Bearer hunter2" })
      assert.notInclude(JSON.stringify(read.effective), "hunter2")
    }
    const wrong = readSettings({ OTEL_EXPORTER_OTLP_HEADERS: "hunter2" }, () => "")
    assert.isFalse(wrong.ok)
    assert.notInclude(JSON.stringify(wrong), "hunter2")
  })
})

describe("the collector's address", () => {
  it.each<[string, boolean]>([
    ["http://127.0.0.1:4318", true],
    ["https://otel.example.org/prefix/", true],
    ["http://user:hunter2@h", false],
    ["http://h/?key=1", false],
    ["http://h/#x", false],
    ["grpc://h", false],
    ["h:4317", false],
    ["", false]
  ])("%s", (text, good) => assert.strictEqual(isCollector(text), good))

  it.each<[string, string, boolean]>([
    ["OTEL_TRACES_SAMPLER", "parentbased_traceidratio", true],
    ["OTEL_TRACES_SAMPLER", "xray", false],
    ["OTEL_TRACES_SAMPLER_ARG", "0.25", true],
    ["OTEL_TRACES_SAMPLER_ARG", "1.0", true],
    ["OTEL_TRACES_SAMPLER_ARG", "1.5", false],
    ["OTEL_TRACES_SAMPLER_ARG", "-0.5", false],
    ["OTEL_TRACES_SAMPLER_ARG", "1e-3", false],
    ["FLYBALL_TRUSTED_PROXIES", "10.0.0.0/8, ::1", true],
    ["FLYBALL_TRUSTED_PROXIES", "0.0.0.0/0", false],
    ["FLYBALL_TRUSTED_PROXIES", "proxy.example", false],
    ["FLYBALL_DRAIN_MS", "0", true],
    ["FLYBALL_DRAIN_MS", "120001", false],
    ["FLYBALL_DRAIN_MS", "5s", false]
  ])("the setting %s takes %s: %s", (name, text, good) =>
    assert.strictEqual(readSettings({ [name]: text }, () => "").ok, good)
  )
})
