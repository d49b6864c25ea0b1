/** The interface description against the one in fixtures: programs that were written for it keep working. */
import { eventTypes, refusals } from "@flyball/contract"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { interfaceDescription } from "./document.ts"
import { withoutSentences } from "./testing/without-sentences.ts"

const golden: unknown = JSON.parse(
  readFileSync(new URL("../../../../fixtures/openapi/document.json", import.meta.url), "utf8")
)

/**
 * JSON pointers of what the description has and the golden one does not. List here what an issue adds. What follows
 * from a refusal that a row names, or from an event of the catalogue, is not listed.
 */
const added: ReadonlyArray<string> = [
  "/tags/platform_keys",
  "/components/schemas/PlatformKeyCreate",
  "/components/schemas/PlatformKeyLimits",
  "/components/schemas/PlatformKeyMinted",
  ...["minted", "revoked"].map(
    (act) =>
      `/webhooks/key.${act}/post/requestBody/content/application~1json/schema/properties/data/properties/kind/enum`
  ),
  "/components/schemas/PlatformKeyOut",
  "/paths/~1api~1v1~1admin~1platform-keys",
  "/paths/~1api~1v1~1admin~1platform-keys~1{platform_key_id}~1revoke",
  "/components/schemas/InstanceEndIn",
  "/components/schemas/InstanceEndOut",
  "/paths/~1api~1v1~1agents~1{agent_id}~1instances~1end",
  "/tags/behavior",
  "/components/schemas/BehaviorChange",
  "/paths/~1api~1v1~1behavior~1agents~1{agent_id}~1change",
  "/tags/evals",
  "/tags/fairness",
  "/components/schemas/EnvelopeOut/properties/withdrawal_reason",
  "/components/schemas/EnvelopeOut/required/withdrawal_reason",
  "/components/schemas/DecisionDetail",
  "/paths/~1api~1v1~1decisions~1{decision_id}",
  "/components/schemas/ResolvedOut/properties/grants",
  "/components/schemas/ResolvedOut/required/grants",
  "/components/schemas/CaptureGapIn/properties/reason/enum/refused",
  "/webhooks/capture.gap/post/requestBody/content/application~1json/schema/properties/data/properties/reason/enum/" +
    "refused",
  "/components/schemas/EvalRun",
  "/components/schemas/EvalRunIn",
  "/components/schemas/EvalCaseIn",
  "/paths/~1api~1v1~1evals~1eval-runs",
  "/tags/mcp",
  ...["McpManifestIn", "McpPinIn", "FindingResolveIn", "McpServer", "McpFinding", "McpScreenOut"].map(
    (name) => `/components/schemas/${name}`
  ),
  ...["mcp-screen", "mcp-manifests", "mcp-pins", "findings~1{finding_id}~1resolve"].map(
    (path) => `/paths/~1api~1v1~1fairness~1${path}`
  ),
  "/components/schemas/FairnessScreen",
  "/components/schemas/FairnessScreenIn",
  "/components/schemas/ScreenOutcomeIn",
  "/paths/~1api~1v1~1fairness~1screens",
  "/components/schemas/EnvelopesInForce",
  "/components/schemas/LocalVerdict",
  "/components/schemas/LocalVerdictOut",
  "/components/schemas/DecisionIn/properties/local_verdict",
  "/components/schemas/DecisionIn/properties/signals",
  "/components/schemas/DecisionOut/properties/local_verdict",
  "/components/schemas/DecisionOut/required/local_verdict",
  "/paths/~1api~1v1~1bound~1agents~1{agent_id}~1envelopes-in-force",
  "/components/schemas/AgentCreate/properties/parent_agent_id",
  "/components/schemas/AgentOut/properties/parent_agent_id",
  "/components/schemas/AgentOut/required/parent_agent_id",
  "/components/schemas/Orphan/properties/parent_agent_id",
  "/components/schemas/Orphan/required/parent_agent_id",
  "/components/schemas/DecisionIn/properties/capture",
  "/components/schemas/DecisionOut/properties/capture",
  "/components/schemas/DecisionOut/required/capture",
  "/components/schemas/IngestKeyCreate/properties/capture",
  "/components/schemas/IngestKeyMinted/properties/capture",
  "/components/schemas/IngestKeyMinted/required/capture",
  "/components/schemas/IngestKeyOut/properties/capture",
  "/components/schemas/IngestKeyOut/required/capture",
  "/components/schemas/DecisionIn/properties/instance_id",
  "/components/schemas/DecisionIn/properties/kind/enum/tool_list",
  "/components/schemas/DecisionOut/properties/instance_id",
  "/components/schemas/DecisionOut/properties/kind/enum/tool_list",
  "/components/schemas/DecisionOut/required/instance_id",
  "/components/schemas/EvaluationIn/properties/instance_id",
  "/components/schemas/EvaluationIn/properties/extraction_id",
  "/components/schemas/Evaluation/properties/extraction_id",
  "/components/schemas/Evaluation/required/extraction_id",
  "/components/schemas/Evaluation/properties/instance_id",
  "/components/schemas/Evaluation/properties/reason",
  "/components/schemas/Evaluation/required/reason",
  "/components/schemas/Evaluation/required/instance_id",
  "/components/schemas/ChangeOut/properties/interval",
  "/components/schemas/ChangeOut/required/interval",
  "/components/schemas/EnvelopeVersionOut/properties/warnings",
  "/components/schemas/EnvelopeVersionOut/required/warnings",
  "/webhooks/agent.suspended/post/requestBody/content/application~1json/schema/properties/data/properties/has_reason",
  "/webhooks/agent.suspended/post/requestBody/content/application~1json/schema/properties/data/required/has_reason",
  "/components/schemas/AgentOut/properties/tier_unmet",
  "/components/schemas/AgentOut/required/tier_unmet",
  "/components/schemas/Orphan/properties/tier_unmet",
  "/components/schemas/Orphan/required/tier_unmet",
  "/components/schemas/AgentOut/properties/suspension_reason",
  "/components/schemas/AgentOut/required/suspension_reason",
  "/components/schemas/Orphan/properties/suspension_reason",
  "/components/schemas/Orphan/required/suspension_reason",
  "/components/schemas/ExplanationOut/properties/approval",
  "/components/schemas/ExplanationOut/required/approval",
  "/components/schemas/ExplanationOut/properties/sentence",
  "/components/schemas/ExplanationOut/required/sentence",
  "/components/schemas/TimelineEntry",
  "/paths/~1api~1v1~1agents~1{agent_id}~1timeline",
  "/paths/~1api~1v1~1bound~1evaluations/get",
  "/components/schemas/PrincipalOut",
  "/paths/~1api~1v1~1principals~1{principal_id}",
  "/components/schemas/EvaluationIn/properties/args",
  "/components/schemas/EvaluationIn/properties/args_redacted",
  "/components/schemas/Review",
  "/components/schemas/ReviewClaimIn",
  "/components/schemas/ReviewDetail",
  "/components/schemas/ReviewDifference",
  "/components/schemas/ReviewNeed",
  "/components/schemas/ReviewResolveIn",
  "/components/schemas/ReviewWithdrawIn",
  "/paths/~1api~1v1~1bound~1reviews",
  "/paths/~1api~1v1~1bound~1reviews~1stream",
  "/paths/~1api~1v1~1bound~1reviews~1{review_id}",
  "/paths/~1api~1v1~1bound~1reviews~1{review_id}~1claim",
  "/paths/~1api~1v1~1bound~1reviews~1{review_id}~1resolve",
  "/paths/~1api~1v1~1bound~1reviews~1{review_id}~1withdraw",
  "/tags/reviews",
  "/tags/standing_approvals",
  "/components/schemas/ChannelOut",
  "/components/schemas/DrillIn",
  "/components/schemas/DrillOut",
  "/components/schemas/DrillResultOut",
  "/components/schemas/SafetyAcks",
  "/components/schemas/SafetyBreaker",
  "/components/schemas/SafetyOut",
  "/components/schemas/SafetyRow",
  "/paths/~1api~1v1~1bound~1kill~1drills",
  "/paths/~1api~1v1~1bound~1kill~1drills~1{drill_id}",
  "/paths/~1api~1v1~1bound~1kill~1drills~1{drill_id}~1attest",
  "/paths/~1api~1v1~1bound~1kill~1drills~1{drill_id}~1complete",
  "/paths/~1api~1v1~1bound~1safety",
  "/components/schemas/ApprovedLayer",
  "/components/schemas/Pin",
  "/components/schemas/PinIn",
  "/components/schemas/StandingApproval",
  "/components/schemas/StandingApprovalCreate",
  "/components/schemas/StandingApprovalRevokeIn",
  "/components/schemas/Evaluation/properties/standing_approval_id",
  "/components/schemas/Evaluation/required/standing_approval_id",
  "/paths/~1api~1v1~1bound~1standing-approvals",
  "/paths/~1api~1v1~1bound~1standing-approvals~1{standing_approval_id}",
  "/paths/~1api~1v1~1bound~1standing-approvals~1{standing_approval_id}~1grant",
  "/paths/~1api~1v1~1bound~1standing-approvals~1{standing_approval_id}~1revoke",
  "/components/schemas/AgentUsage",
  "/components/schemas/IncidentFigures",
  "/components/schemas/ModelUsage",
  "/components/schemas/OpenIncident",
  "/components/schemas/OutcomeCounts",
  "/components/schemas/ReviewFigures",
  "/components/schemas/TelemetryOut",
  "/paths/~1api~1v1~1bound~1telemetry~1usage",
  "/components/schemas/PolicyRow",
  "/components/schemas/PolicyRowIn",
  "/paths/~1api~1v1~1bound~1response-policy",
  "/components/schemas/PartOut",
  "/components/schemas/Evaluation/properties/activation_event",
  "/components/schemas/Evaluation/properties/epoch",
  "/components/schemas/Evaluation/required/activation_event",
  "/components/schemas/Evaluation/required/epoch",
  "/components/schemas/KillAckIn",
  "/components/schemas/KillAckOut",
  "/components/schemas/KillActivateIn",
  "/components/schemas/GenesisOut",
  "/paths/~1api~1v1~1chain~1genesis",
  "/components/schemas/KillCertificate",
  "/components/schemas/StopCertificateOut",
  "/components/schemas/KillChanged",
  "/components/schemas/KillActivation",
  "/components/schemas/KillEvent",
  "/components/schemas/KillInstanceOut",
  "/components/schemas/KillInstanceState",
  "/components/schemas/KillReach",
  "/components/schemas/KillReleaseIn",
  "/components/schemas/KillRequestIn",
  "/components/schemas/KillRequestOut",
  "/components/schemas/KillStatus",
  "/paths/~1api~1v1~1bound~1kill~1ack",
  "/paths/~1api~1v1~1bound~1kill~1activate",
  "/paths/~1api~1v1~1bound~1kill~1activations~1{activation_id}",
  "/paths/~1api~1v1~1bound~1kill~1activations~1{activation_id}~1certificate",
  "/paths/~1api~1v1~1bound~1kill~1events",
  "/paths/~1api~1v1~1bound~1kill~1release",
  "/paths/~1api~1v1~1bound~1kill~1request",
  "/paths/~1api~1v1~1bound~1kill~1status",
  "/paths/~1api~1v1~1bound~1kill~1stream",
  "/tags/kill",
  "/components/schemas/Breaker",
  "/components/schemas/BreakerCheckOut",
  "/components/schemas/BreakerCreate",
  "/components/schemas/BreakerPreviewIn",
  "/components/schemas/BreakerPreviewOut",
  "/components/schemas/BreakerReleaseIn",
  "/components/schemas/GoodRunsIn",
  "/components/schemas/BreakerUpdate",
  "/paths/~1api~1v1~1bound~1agents~1{agent_id}~1breakers",
  "/paths/~1api~1v1~1bound~1agents~1{agent_id}~1breakers~1preview",
  "/paths/~1api~1v1~1bound~1breakers~1check",
  "/paths/~1api~1v1~1bound~1breakers~1{breaker_id}",
  "/paths/~1api~1v1~1bound~1breakers~1{breaker_id}~1release",
  "/tags/breakers",
  "/paths/~1api~1v1~1chain~1records~1{seq}~1parts~1{name}"
]

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const pointer = (at: string, name: string) => `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`

interface Differences {
  readonly added: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
}

/** Items of a list that grows by their names: the groups of endpoints. */
const byName = (items: unknown): unknown =>
  Array.isArray(items) ? Object.fromEntries(items.map((item: { readonly name: string }) => [item.name, item])) : items

/** True for a list of words that may grow. One more member that an input requires breaks callers; inputs are closed. */
const mayGrow = (name: string, of: { readonly [name: string]: unknown }): boolean =>
  name === "enum" || (name === "required" && of["additionalProperties"] !== false)

/** The words of a closed list by themselves, so that each word is compared alone. */
const byWord = (words: unknown): unknown =>
  Array.isArray(words) && words.every((word) => typeof word === "string")
    ? Object.fromEntries(words.map((word) => [word, true]))
    : words

/**
 * Where two values differ. A list is one value, order included: an added item is a change. Only in the lists of words
 * that grow with the interface an added word is an addition: words of a closed list, and members that answers have.
 */
const differences = (before: unknown, after: unknown, at = ""): Differences => {
  if (!isObject(before) || !isObject(after))
    return { added: [], changed: JSON.stringify(before) === JSON.stringify(after) ? [] : [at] }
  const inner = Object.keys(before).map((name) =>
    Object.hasOwn(after, name)
      ? differences(
          mayGrow(name, before) ? byWord(before[name]) : before[name],
          mayGrow(name, before) ? byWord(after[name]) : after[name],
          pointer(at, name)
        )
      : { added: [], changed: [pointer(at, name)] }
  )
  const more = Object.keys(after).filter((name) => !Object.hasOwn(before, name))
  return {
    added: [...inner.flatMap((one) => one.added), ...more.map((name) => pointer(at, name))],
    changed: inner.flatMap((one) => one.changed)
  }
}

/**
 * The description with the answers of errors by their codes, in place of references to responses. A response is named
 * for all refusals of its status, so that one more refusal would change the name and no answer.
 */
const withCodes = (description: any): unknown => {
  const { components, paths, ...rest } = description
  const { responses, ...others } = components
  const codesOf = (reference: string): unknown => {
    const { content, ...response } = responses[reference.split("/").at(-1)!]
    const { anyOf, discriminator, $ref } = content["application/json"].schema
    const codeOf = ({ $ref: to }: { readonly $ref: string }): readonly [string, string] => {
      const name = to.split("/").at(-1)!
      return [components.schemas[name].properties.code?.const ?? name, to]
    }
    return { ...response, codes: discriminator?.mapping ?? Object.fromEntries((anyOf ?? [{ $ref }]).map(codeOf)) }
  }
  const answersOf = (answers: object) =>
    Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [status, "$ref" in answer ? codesOf(answer.$ref) : answer])
    )
  const methodsOf = (methods: object) =>
    Object.fromEntries(
      Object.entries(methods).map(([method, one]) => [method, { ...one, responses: answersOf(one.responses) }])
    )
  return {
    ...rest,
    tags: byName(rest.tags),
    components: others,
    paths: Object.fromEntries(Object.entries<object>(paths).map(([path, methods]) => [path, methodsOf(methods)]))
  }
}

/** True for an addition that follows from a refusal: its shape, its code, a status that an endpoint did not have. */
const isOfRefusal = (added: string): boolean =>
  /^\/paths\/[^/]+\/[a-z]+\/responses\/4\d\d(\/codes\/[a-z_]+|\/headers\/[^/]+)?$/.test(added) ||
  Object.hasOwn(refusals, added.replace("/components/schemas/", ""))

/**
 * True for an addition that follows from an event of the catalogue: its description, and its type where one asks for
 * it.
 */
const isOfEvent = (added: string): boolean => {
  const [, of, type = ""] = /^(\/webhooks|.*\/enum)\/([^/]+)$/.exec(added) ?? []
  return of !== undefined && eventTypes.some((known) => known === type)
}

/** Members that take more than they did: names of any script, keys of both APIs. */
const widened: ReadonlyArray<string> = [
  "/components/schemas/AgentCreate/properties/model_ids/items/pattern",
  "/components/schemas/AgentUpdate/properties/model_ids/items/pattern",
  "/components/schemas/DecisionIn/properties/action/pattern",
  "/components/schemas/DecisionIn/properties/tool_server/pattern",
  "/components/schemas/DecisionIn/properties/model/pattern",
  "/components/schemas/EvaluationIn/properties/action/pattern",
  "/components/schemas/ModelCreate/properties/provider/pattern",
  "/components/schemas/ModelCreate/properties/name/pattern",
  "/components/schemas/ModelCreate/properties/version/pattern",
  "/paths/~1api~1v1~1agents~1{agent_id}~1decisions/get/parameters",
  ...["minted", "revoked"].flatMap((act) =>
    [
      "key_id/pattern",
      "kind/const",
      ...(act === "minted" ? ["max_autonomy_tier/type", "max_autonomy_tier/enum"] : [])
    ].map(
      (at) => `/webhooks/key.${act}/post/requestBody/content/application~1json/schema/properties/data/properties/${at}`
    )
  )
]

describe("the interface description, sentences aside", () => {
  it("removes and changes nothing of the golden one, and adds only what is listed", () => {
    const now = withoutSentences(JSON.parse(JSON.stringify(interfaceDescription())))
    const found = differences(withCodes(golden), withCodes(now))
    assert.sameMembers([...found.changed], [...widened])
    assert.deepStrictEqual(found.added.filter((one) => !isOfRefusal(one) && !isOfEvent(one)).sort(), [...added].sort())
  })

  it("reports a refusal that an endpoint has lost, and accepts a new one", () => {
    const schema = (code: string) => ({ properties: { code: { const: code } } })
    const described = (name: string, schemaOfIt: object) => ({
      paths: { "/x": { get: { responses: { "409": { $ref: `#/components/responses/${name}` } } } } },
      components: {
        schemas: { ModelTaken: schema("model_taken"), AgentNameTaken: schema("agent_name_taken") },
        responses: { [name]: { headers: {}, content: { "application/json": { schema: schemaOfIt } } } }
      }
    })
    const [one, other] = ["#/components/schemas/ModelTaken", "#/components/schemas/AgentNameTaken"]
    const before = withCodes(described("ModelTaken", { $ref: one }))
    const mapping = { model_taken: one, agent_name_taken: other }
    const after = withCodes(described("Both", { oneOf: [], discriminator: { propertyName: "code", mapping } }))
    const at = "/paths/~1x/get/responses/409/codes"
    assert.deepStrictEqual(differences(before, after), { added: [`${at}/agent_name_taken`], changed: [] })
    assert.deepStrictEqual(differences(after, before), { added: [], changed: [`${at}/agent_name_taken`] })
    assert.isTrue(isOfRefusal(`${at}/agent_name_taken`))
    assert.isTrue(isOfRefusal("/components/schemas/ModelTaken"))
    for (const more of ["/components/schemas/AgentOut", "/paths/~1x", "/paths/~1x/get/responses/200", "/components"])
      assert.isFalse(isOfRefusal(more), more)
  })

  it("reports removals, changes and additions", () => {
    const before = { a: { b: 1, c: [1, 2] }, d: null }
    assert.deepStrictEqual(differences(before, before), { added: [], changed: [] })
    assert.deepStrictEqual(differences(before, { a: { b: 2, c: [1, 2, 3], "x/y": 0 } }), {
      added: ["/a/x~1y"],
      changed: ["/a/b", "/a/c", "/d"]
    })
  })

  it("accepts a new member of an answer, but no newly required member of an input", () => {
    const answer = (...required: ReadonlyArray<string>) => ({ required })
    const input = (...required: ReadonlyArray<string>) => ({ required, additionalProperties: false })
    assert.deepStrictEqual(differences(answer("a"), answer("b", "a")), { added: ["/required/b"], changed: [] })
    assert.deepStrictEqual(differences(answer("a", "b"), answer("a")), { added: [], changed: ["/required/b"] })
    assert.deepStrictEqual(differences(input("a"), input("a", "b")), { added: [], changed: ["/required"] })
  })

  it("accepts a new event, and reports a word that was removed from a closed list", () => {
    const words = (...values: ReadonlyArray<string>) => ({ items: { enum: values } })
    const more = differences(words("a"), words("agent.suspended", "b", "a"))
    assert.deepStrictEqual(more, { added: ["/items/enum/agent.suspended", "/items/enum/b"], changed: [] })
    assert.deepStrictEqual(differences(words("a", "b"), words("a")), { added: [], changed: ["/items/enum/b"] })
    for (const added of ["/items/enum/agent.suspended", "/webhooks/agent.suspended"]) assert.isTrue(isOfEvent(added))
    for (const added of ["/items/enum/b", "/webhooks/b", "/paths/agent.suspended"]) assert.isFalse(isOfEvent(added))
  })

  it("ignores titles, descriptions and examples, but not members with these names", () => {
    assert.deepStrictEqual(
      withoutSentences({
        title: "t",
        properties: { title: { type: "string", description: "d" }, properties: { examples: [1], type: "object" } }
      }),
      { properties: { title: { type: "string" }, properties: { type: "object" } } }
    )
  })
})
