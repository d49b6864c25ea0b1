/** A verdict as a scripted server answers it: `allow`, by the rule `small`, unless `more` says otherwise. */
export const verdictAnswer = (more: object = {}) => ({
  id: "evl_1",
  outcome: "allow",
  matched_rule: "small",
  valid_ms: 15_000,
  obligations: [],
  review_id: null,
  suggestion: null,
  ...more
})
