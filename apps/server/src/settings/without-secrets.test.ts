import { assert, describe, it } from "vitest"
import { readSettings } from "./read.ts"
import { withoutSecrets } from "./without-secrets.ts"

describe("what a sentence shows of a setting that cannot be used", () => {
  it.each([
    ["http://user:hunter2@collector:4318", "http://****@collector:4318"],
    ["http://hunter2@collector", "http://****@collector"],
    ["http://user:hunter2/@x?y#z@collector", "http://****@collector"],
    ["user:hunter2@collector:4318", "****@collector:4318"],
    ["https://collector/?key=hunter2", "https://collector/?****"],
    ["grpc://collector", "grpc://collector"],
    ["ops@münchen.de", "ops@münchen.de"],
    ["10.0.0.0/33,::1", "10.0.0.0/33,::1"]
  ])("of %j is %j", (text, shown) => assert.strictEqual(withoutSecrets(text), shown))

  it.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:hunter2@collector:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector/?key=hunter2"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", `http://u:${"x".repeat(90)}hunter2@h`],
    ["FLYBALL_OIDC_ISSUER", "https://user:hunter2@login.example.com/realm"],
    ["FLYBALL_HOST", "https://user:hunter2@h"],
    ["FLYBALL_EGRESS_ALLOW", "10.0.0.0/8,https://user:hunter2@h"]
  ])("%s never shows a password", (name, text) => {
    const read = readSettings({ [name]: text }, () => "")
    assert.isFalse(read.ok)
    assert.notInclude(JSON.stringify(read), "hunter2")
    assert.notInclude(JSON.stringify(read), "xxxx")
  })
})
