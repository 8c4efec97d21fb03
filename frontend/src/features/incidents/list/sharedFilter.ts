import type { Commonality } from "@/lib/api/types";
import type { IncidentFilters } from "../filters/filters";

/** The filter that shows the incidents with a property that sick hosts share; incidents have no tenants, and a recent change is no filter. */
export function sharedFilter({ dimension, value }: Pick<Commonality, "dimension" | "value">): IncidentFilters | null {
  switch (dimension) {
    case "model":
      return { model: value };
    case "firmware":
      return { fw_ver: value };
    case "rack":
      return { rack: value };
    case "tenant":
    case "change":
      return null;
  }
}
