/** Rows of the catalogue: approvals in advance, of a box of inputs. */
import { agentId, hash, id, instant, type KindRow, MIB, must, objectPart, part, rules, writer } from "./row.ts"

const standingApprovalId = must("standing_approval_id", id("sap_"))
const reviewId = must("review_id", id("rev_"))

/** The rows, in the order of the specification's table. */
export const standingApprovalKinds: ReadonlyArray<KindRow> = [
  {
    kind: "standing_approval.proposed",
    about:
      "A person who approved a review proposes to approve up to `count` more evaluations within the box in the part " +
      "`box`. It is not in force yet. `layers` are those of the reviewed evaluation. `asks` are the rules that " +
      "required its review, as places of rules in the combination of these layers; -1 - n is layer n, where no rule " +
      "held. `box_digest` is the SHA-256 of the part.",
    body: [
      agentId,
      must("asks", { type: "list", of: { type: "integer", min: -16, max: 1_099 }, min: 1, max: 1_116 }),
      must("box_digest", hash),
      must("count", { type: "integer", min: 1, max: 10_000 }),
      must("evaluation_id", id("evl_")),
      must("expires_at", instant),
      must("layers", {
        type: "list",
        of: {
          type: "object",
          members: [
            must("digest", hash),
            must("envelope_id", id("env_")),
            must("version", { type: "integer", min: 1, max: 1_000_000 })
          ]
        },
        min: 1,
        max: 15
      }),
      reviewId,
      rules,
      standingApprovalId,
      writer
    ],
    parts: [
      objectPart(
        "box",
        MIB,
        ["action", "args", "pins"],
        ": the name of the action or null; the names of the members of its arguments or null; " +
          "`[{path, …}]` with `eq`, `at_most` or `one_of`, where a path is a JSON pointer below `/signals` or `/args`"
      ),
      part("reason", 16_384, "a JSON string: the reason that a person gave")
    ]
  },
  {
    kind: "standing_approval.granted",
    about: "A person other than the proposer put it in force.",
    body: [agentId, must("proposed_by", { type: "writer" }), reviewId, standingApprovalId, writer],
    parts: []
  },
  {
    kind: "standing_approval.used",
    about:
      "It approved the evaluation `evaluation_id`, in the commit of that evaluation. `left` is the number of uses " +
      "that remain.",
    body: [
      agentId,
      must("evaluation_id", id("evl_")),
      must("left", { type: "integer", min: 0, max: 9_999 }),
      standingApprovalId,
      writer
    ],
    parts: []
  },
  {
    kind: "standing_approval.revoked",
    about: "It approves no further evaluation.",
    body: [agentId, standingApprovalId, writer],
    parts: [part("reason", 16_384, "a JSON string: the reason that a person gave")]
  }
]
