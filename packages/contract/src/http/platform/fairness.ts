/** The endpoints of fairness analyses. Spec: document 2 section 4; api.md "Document 2". */
import { Schema } from "effect"
import {
  AnalysesPage,
  AnalysesQuery,
  Analysis,
  analysisBounds,
  AnalysisCreate,
  Explanation,
  ExplanationCreate,
  FairnessReport,
  FairnessReportCreate
} from "../../platform/fairness.ts"
import { unitQuery } from "../../platform/list.ts"
import { AnalysisNotFound } from "../../refusals.ts"
import { access, platformAccess } from "../access.ts"
import { endpoint, idParam, json, jsonBody, media, queryOf } from "../endpoint.ts"

const write = platformAccess("fairness:write", access.operate.roles)
const read = platformAccess("fairness:read")
const module = "fairness_analyses"
const platform = { module }
const query = queryOf(Schema.Struct(unitQuery))
const limits = { limitBytes: analysisBounds.bodyBytes }
const ofReport = { report_id: idParam("analysisReport", () => new AnalysisNotFound({})) } as const

/** Endpoints of fairness analyses. Spec: document 2 section 4, "fairness"; api.md "Document 2". */
export const fairnessAnalyses = {
  analyze: endpoint({
    id: "fairness.analyze",
    method: "POST",
    path: "/v1/fairness/analyze",
    summary: "Compares the predictions of a model between groups of people. A large data set is answered as running.",
    access: write,
    platform: { module, operation: "fairness.analyze" },
    query,
    body: jsonBody(AnalysisCreate, limits),
    success: json(201, Analysis),
    refusals: ["RateLimitExceeded"]
  }),
  list: endpoint({
    id: "fairness.analyses",
    method: "GET",
    path: "/v1/fairness/analyses",
    summary: "Lists fairness analyses, the newest first.",
    access: read,
    platform,
    query: queryOf(AnalysesQuery),
    success: json(200, AnalysesPage)
  }),
  get: endpoint({
    id: "fairness.analysis",
    method: "GET",
    path: "/v1/fairness/analyses/{analysis_id}",
    summary: "Returns one fairness analysis with its figures.",
    access: read,
    platform,
    params: { analysis_id: idParam("analysis", () => new AnalysisNotFound({})) },
    query,
    success: json(200, Analysis),
    refusals: ["AnalysisNotFound"]
  }),
  explain: endpoint({
    id: "fairness.explain",
    method: "POST",
    path: "/v1/fairness/explain",
    summary: "Divides the difference between groups among the columns of a data set.",
    access: write,
    platform: { module, operation: "fairness.explain" },
    query,
    body: jsonBody(ExplanationCreate, limits),
    success: json(200, Explanation)
  }),
  report: endpoint({
    id: "fairness.generate_report",
    method: "POST",
    path: "/v1/fairness/reports",
    summary: "Writes the report of a completed analysis.",
    access: write,
    platform: { module, operation: "fairness.generate_report" },
    query,
    body: jsonBody(FairnessReportCreate),
    success: json(201, FairnessReport),
    refusals: ["AnalysisNotCompleted", "AnalysisNotFound"]
  }),
  getReport: endpoint({
    id: "fairness.report",
    method: "GET",
    path: "/v1/fairness/reports/{report_id}",
    summary: "Returns the report of a completed analysis.",
    access: read,
    platform,
    params: ofReport,
    query,
    success: json(200, FairnessReport),
    refusals: ["AnalysisNotFound"]
  }),
  page: endpoint({
    id: "fairness.report_page",
    method: "GET",
    path: "/v1/fairness/reports/{report_id}/page",
    summary: "Returns the report as one HTML page that needs nothing else.",
    access: read,
    platform,
    params: ofReport,
    query,
    success: media("text/html; charset=utf-8"),
    refusals: ["AnalysisNotFound"]
  })
} as const
