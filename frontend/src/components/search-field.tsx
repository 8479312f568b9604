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

/** The filter of a page, which the key "/" leads to; it tells at Enter, or once nobody types. */
export function SearchField({ label, search, onSearch }: SearchFieldProps) {
  const router = useRouter();
  const [text, setText] = useState(search ?? '');
  const reported = useRef(search);
  const settle = useDebouncedCallback((typed: string, pathname: string) => {
    // Who has already gone on to another page, which may still be loading, is not called back.
    if (router.latestLocation.pathname !== pathname) return;
    reported.current = typed.trim() || undefined;
    onSearch(reported.current);
  }, settleMs);
  // A search that came with the address, or went with the back button, is shown; what was told
  // from here comes back too, perhaps while somebody types on.
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
