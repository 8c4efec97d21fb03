import { Link } from "@tanstack/react-router";
import { useOpenIncidentCount } from "@/features/incidents/queries";
import classes from "./Shell.module.css";

export function Navigation() {
  const open = useOpenIncidentCount();
  return (
    <nav className={classes["nav"]} aria-label="Main">
      <Link to="/" activeOptions={{ exact: true, includeSearch: false }} className={classes["navLink"]}>
        Wall
      </Link>
      <Link to="/incidents" className={classes["navLink"]}>
        Incidents
        {open !== undefined && open.count > 0 && (
          <span className={classes["count"]} aria-label={`${open.count}${open.more ? " or more" : ""} open`}>
            {open.count}
            {open.more ? "+" : ""}
          </span>
        )}
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
      <Link to="/settings/$section" params={{ section: "tokens" }} activeProps={{ "data-status": "active" }} className={classes["navLink"]}>
        Settings
      </Link>
    </nav>
  );
}
