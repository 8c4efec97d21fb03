import { Tooltip } from "@mantine/core";
import { Link, useLocation } from "@tanstack/react-router";
import classes from "./Navigation.module.css";
import { type Place, PLACE_GROUPS, placeOf } from "./places";

interface Props {
  /** Shows icons only; the names stay for screen readers and as tooltips. */
  icons?: boolean;
  /** Incidents that need attention. */
  open: number;
  onGo?: () => void;
}

function PlaceLink({
  place,
  active,
  icons,
  open,
  onGo,
}: Omit<Props, "icons"> & { place: Place; active: boolean; icons: boolean }) {
  const count = place.to === "/incidents" ? open : 0;
  const Icon = place.icon;
  return (
    <Tooltip label={`${place.label} ( g ${place.chord} )`} position="right" disabled={!icons}>
      <Link
        to={place.to}
        activeOptions={{ exact: true, includeSearch: false }}
        data-status={active ? "active" : undefined}
        aria-current={active ? "page" : undefined}
        className={classes["link"]}
        onClick={onGo}
      >
        <Icon size={18} stroke={1.6} aria-hidden className={classes["icon"]} />
        <span className={classes["label"]}>{place.label}</span>
        {count > 0 && (
          <span className={classes["count"]}>
            <span aria-hidden>{count > 999 ? "999+" : count}</span>
            <span className={classes["spoken"]}>{count.toLocaleString("en")} open</span>
          </span>
        )}
      </Link>
    </Tooltip>
  );
}

/** The pages in groups: what to look at, what explains it, what to do about it, what it all rests on. */
export function Navigation({ icons = false, open, onGo }: Props) {
  const here = useLocation({ select: (location) => placeOf(location.pathname)?.to });
  return (
    <nav className={classes["nav"]} aria-label="Main" data-icons={icons || undefined}>
      {PLACE_GROUPS.map(({ label, places }) => (
        <div key={label} role="group" aria-label={label} className={classes["group"]}>
          <span aria-hidden className={classes["groupLabel"]}>
            {label}
          </span>
          <ul className={classes["list"]}>
            {places.map((place) => (
              <li key={place.to}>
                <PlaceLink place={place} active={place.to === here} icons={icons} open={open} onGo={onGo} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
