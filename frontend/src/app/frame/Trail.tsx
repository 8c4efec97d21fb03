import { Link, useRouterState } from "@tanstack/react-router";
import { usePageTitle } from "@/lib/ui/useTitle";
import classes from "./Shell.module.css";
import { leafOf, trailTo } from "./trail";

/** Where a page stands below those of the side bar. */
export function Trail() {
  const match = useRouterState({ select: ({ matches }) => matches.at(-1) });
  const title = usePageTitle();
  const above = match ? trailTo(match.routeId, match.params) : [];
  if (!match || above.length === 0) return null;
  return (
    <nav aria-label="Breadcrumbs" className={classes["trail"]}>
      <ol>
        {above.map(({ label, to, search }) => (
          <li key={label}>
            {to === undefined ? (
              <span>{label}</span>
            ) : (
              <Link to={to} search={search}>
                {label}
              </Link>
            )}
          </li>
        ))}
        <li aria-current="page">{leafOf(match.routeId, match.params, title)}</li>
      </ol>
    </nav>
  );
}
