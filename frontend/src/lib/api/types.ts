/** Short names for the API's schemas. All of them are generated: change the backend, then `npm run generate`. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Agent = Schemas["Agent"];
export type AuditEvent = Schemas["AuditEvent"];
export type Delivery = Schemas["Delivery"];
export type Evidence = Schemas["Evidence"];
export type FindingInterval = Schemas["FindingInterval"];
export type Hypothesis = Schemas["Hypothesis"];
export type HostOperation = Schemas["HostOperation"];
export type Incident = Schemas["Incident"];
export type IncidentState = Schemas["IncidentState"];
export type IncidentSummary = Schemas["IncidentSummary"];
export type MaskChains = Schemas["MaskChains"];
export type MaskEntry = Schemas["MaskEntry"];
export type NewRemedy = Schemas["NewRemedy"];
export type ParamInfo = Schemas["ParamInfo"];
export type Remedy = Schemas["Remedy"];
export type RemedyAction = Schemas["RemedyAction"];
export type RemedyState = Schemas["RemedyState"];
export type Rnic = Schemas["Rnic"];
export type Role = Schemas["Role"];
export type Series = Schemas["Series"];
export type SuggestedRemedy = Schemas["SuggestedRemedy"];
export type TimelineEntry = Schemas["TimelineEntry"];
export type Token = Schemas["Token"];
export type User = Schemas["User"];
export type Verification = Schemas["Verification"];
export type VirtualFunction = Schemas["VirtualFunction"];
export type VirtualFunctions = Schemas["VirtualFunctions"];
export type WallColumns = Schemas["WallColumns"];
export type WallValue = Schemas["WallValue"];
export type Webhook = Schemas["Webhook"];
