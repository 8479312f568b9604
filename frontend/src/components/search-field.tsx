import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import classes from './search-field.module.css';

type SearchFieldProps = {
  label: string;
  search: string | undefined;
  onSearch: (search: string | undefined) => void;
};

const settleMs = 250;

/** The filter of a page, which the key "/" leads to; it reports at Enter, or when typing pauses. */
export function SearchField({ label, search, onSearch }: SearchFieldProps) {
  const router = useRouter();
  const [text, setText] = useState(search ?? '');
  const reported = useRef(search);
  const settle = useDebouncedCallback((typed: string, pathname: string) => {
    // A user who has gone on to another page, which may still be loading, is not called back.
    if (router.latestLocation.pathname !== pathname) return;
    reported.current = typed.trim() || undefined;
    onSearch(reported.current);
  }, settleMs);
  // A search from the address or the back button is shown. A search that this field reported comes
  // back too, perhaps while the user types on; it does not replace the typed text.
  useEffect(() => {
    if (search !== reported.current) {
      reported.current = search;
      setText(search ?? '');
    }
  }, [search]);
  return (
    <TextInput
      className={classes.field}
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={14} aria-hidden />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        settle(event.currentTarget.value, router.latestLocation.pathname);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') settle.flush();
      }}
      autoComplete="off"
      spellCheck={false}
      data-filter
    />
  );
}
