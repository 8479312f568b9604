import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type SearchWay, searchWays } from './message';
import classes from './message-search-form.module.css';

export type MessageSearch = {
  topic?: string | undefined;
  by?: SearchWay | undefined;
  key?: string | undefined;
  begin?: string | undefined;
  end?: string | undefined;
};

type MessageSearchFormProps = { search: MessageSearch; onSearch: (search: MessageSearch) => void };

/** Says which messages are looked for; nothing is asked before the form is sent. */
export function MessageSearchForm({ search, onSearch }: MessageSearchFormProps) {
  const { t } = useTranslation();
  const [by, setBy] = useState<SearchWay>(search.by ?? 'time');
  const isByKey = by === 'key' || by === 'unique' || by === 'id';
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name) ?? '').trim() || undefined;
    onSearch({
      by,
      topic: text('topic'),
      key: text('key'),
      begin: text('begin'),
      end: text('end'),
    });
  };
  return (
    <search>
      <form className={classes.form} onSubmit={submit}>
        <SegmentedControl<SearchWay>
          aria-label={t('messageSearch.by')}
          value={by}
          onChange={setBy}
          data={searchWays.map((value) => ({ value, label: t(`messageSearch.way.${value}`) }))}
        />
        <div className={classes.fields}>
          <TextInput
            name="topic"
            label={t(by === 'id' ? 'messageSearch.topicOfId' : 'messageSearch.topic')}
            defaultValue={search.topic ?? ''}
            required={by !== 'id'}
            withAsterisk={false}
            autoComplete="off"
            spellCheck={false}
            className={classes.wide}
            data-filter
          />
          {isByKey ? (
            <TextInput
              key={by}
              name="key"
              label={t(`messageSearch.value.${by}`)}
              defaultValue={search.key ?? ''}
              required
              withAsterisk={false}
              autoComplete="off"
              spellCheck={false}
              className={classes.wide}
            />
          ) : null}
          {by === 'time'
            ? (['begin', 'end'] as const).map((name) => (
                <TextInput
                  key={name}
                  name={name}
                  type="datetime-local"
                  step={1}
                  label={t(`messageSearch.${name}`)}
                  defaultValue={search[name] ?? ''}
                />
              ))
            : null}
          <Button type="submit">
            {t(`messageSearch.go.${by === 'follow' ? 'follow' : 'find'}`)}
          </Button>
        </div>
      </form>
    </search>
  );
}
