import { assert, describe, it } from "vitest"
import { urlFormProblem } from "./url.ts"

describe("the URL of a webhook", () => {
  it.each([
    "https://hooks.example.org/in",
    "https://hooks.example.org:8443/in?tenant=1",
    "https://[2001:db8::1]/",
    "https://bücher.example/",
    `https://a.example/${"x".repeat(2_030)}`
  ])("may be %s", (url) => {
    assert.isNull(urlFormProblem(url, false))
  })

  it.each([
    "",
    "hooks.example.org",
    "ftp://a.example/",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "https://",
    "https://ada@a.example/",
    "https://ada:pw@a.example/",
    "https://@a.example/",
    "https://a.example/#",
    "https://a.example/#top",
    "https://a.example/ x",
    " https://a.example/",
    "https:\\\\a.example/",
    "https://a.example/\n",
    `https://a.example/${"x".repeat(2_031)}`
  ])("may not be %s", (url) => assert.isString(urlFormProblem(url, true)))

  it("is https unless the host allows http", () => {
    assert.isString(urlFormProblem("http://a.example/", false))
    assert.isNull(urlFormProblem("http://a.example/", true))
  })
})
