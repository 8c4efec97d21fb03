import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import type { NfCard } from "@/lib/api/types";

const MOST_LINKS = 8;

/** Where functions run: the way in for whoever has not chosen a card. */
export function MeasuredCards({ cards }: { cards: readonly NfCard[] }) {
  const more = cards.length - MOST_LINKS;
  return (
    <nav aria-label="Cards on which functions run">
      Functions run on{" "}
      {cards.slice(0, MOST_LINKS).map(({ host, pci }, at) => (
        <Fragment key={`${host} ${pci}`}>
          {at > 0 && ", "}
          <Link to="/functions" search={{ host, pci }}>
            {host} {pci}
          </Link>
        </Fragment>
      ))}
      {more > 0 ? ` and ${more} more: choose one above.` : "."}
    </nav>
  );
}
