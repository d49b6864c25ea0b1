/** What tests of this package and of the standalone server share. It is not published. */
export { exposition } from "../metrics/exposition.ts"
export { mayReadMetrics } from "../metrics/may-read.ts"
export { readExposition } from "../metrics/testing/read-exposition.ts"
export { type TestIssuer, testIssuer } from "../oidc/test-issuer.ts"
export type { JsonSchema } from "../openapi/json-schema.ts"
export type { OpenApi, Response } from "../openapi/open-api.ts"
export { problemsOfValue } from "../openapi/testing/check-schema.ts"
export { spanFamilies } from "../telemetry/families.ts"
