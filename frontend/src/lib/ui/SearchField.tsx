import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, useEffect, useState } from "react";

const TYPING_MS = 300;

interface Props {
  label: string;
  placeholder: string;
  value: string | undefined;
  onValue: (value: string | undefined) => void;
  width: number;
  icon?: ReactNode;
  /** `/` puts the cursor here. */
  first?: boolean;
}

/** A text filter that speaks once its reader has stopped typing. */
export function SearchField({ label, placeholder, value, onValue, width, icon, first = false }: Props) {
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  const search = useDebouncedCallback((typed: string) => onValue(typed.trim() || undefined), TYPING_MS);
  return (
    <TextInput
      data-focus-filter={first || undefined}
      aria-label={label}
      placeholder={placeholder}
      w={width}
      leftSection={icon}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        search(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}
