import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useState } from "react";

const TYPING_MS = 300;

/** Filters a list by one host. The API compares names in full. `/` puts the cursor here. */
export function HostField({ host, onHost }: { host: string | undefined; onHost: (host: string | undefined) => void }) {
  const [text, setText] = useState(host ?? "");
  useEffect(() => setText(host ?? ""), [host]);
  const search = useDebouncedCallback((value: string) => onHost(value.trim() || undefined), TYPING_MS);
  return (
    <TextInput
      data-focus-filter
      aria-label="Host name"
      placeholder="host name, in full  ( / )"
      w={210}
      leftSection={<IconSearch size={14} />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        search(event.currentTarget.value);
      }}
    />
  );
}
