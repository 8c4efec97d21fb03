import { Link, useLocation } from "@tanstack/react-router";
import { useOpenIncidentCount } from "@/features/incidents/queries";
import classes from "./Shell.module.css";

export function Navigation() {
  const open = useOpenIncidentCount();
  // The link leads to one of the sections, but stands for all of them.
  const inSettings = useLocation({ select: (location) => location.pathname.startsWith("/settings") });
  return (
    <nav className={classes["nav"]} aria-label="Main">
      <Link to="/" activeOptions={{ exact: true, includeSearch: false }} className={classes["navLink"]}>
        Fleet
      </Link>
      <Link to="/forecasts" className={classes["navLink"]}>
        Forecasts
      </Link>
      <Link to="/incidents" className={classes["navLink"]}>
        Incidents
        {open !== undefined && open > 0 && (
          <span className={classes["count"]} aria-label={`${open} open`}>
            {open.toLocaleString("en")}
          </span>
        )}
      </Link>
      <Link to="/tenants" className={classes["navLink"]}>
        Tenants
      </Link>
      <Link to="/silences" className={classes["navLink"]}>
        Silences
      </Link>
      <Link to="/policies" className={classes["navLink"]}>
        Policies
      </Link>
      <Link to="/profiles" className={classes["navLink"]}>
        Profiles
      </Link>
      <Link to="/lab" activeOptions={{ includeSearch: false }} className={classes["navLink"]}>
        Lab
      </Link>
      <Link to="/captures" className={classes["navLink"]}>
        Captures
      </Link>
      <Link to="/remedies" className={classes["navLink"]}>
        Remedies
      </Link>
      <Link to="/agents" className={classes["navLink"]}>
        Agents
      </Link>
      <Link to="/webhooks" className={classes["navLink"]}>
        Webhooks
      </Link>
      <Link
        to="/settings/$section"
        params={{ section: "tokens" }}
        data-status={inSettings ? "active" : undefined}
        aria-current={inSettings ? "page" : undefined}
        className={classes["navLink"]}
      >
        Settings
      </Link>
    </nav>
  );
}
