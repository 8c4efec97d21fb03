import { IconSearch } from "@tabler/icons-react";
import { SearchField } from "./SearchField";

/** Filters a list by one host. The API compares names in full. `/` puts the cursor here. */
export function HostField({ host, onHost }: { host: string | undefined; onHost: (host: string | undefined) => void }) {
  return <SearchField label="Host name" placeholder="host name, in full  ( / )" width={210} icon={<IconSearch size={14} />} first value={host} onValue={onHost} />;
}
