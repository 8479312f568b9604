import { Button, Checkbox, NumberInput, Select, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNotice } from '@/components/error-notice';
import type { Role } from '@/gql/operations';
import classes from './access-form.module.css';
import { createToken } from './access-queries';
import { PatternsField } from './patterns-field';
import { patternsIn, rolesUpTo } from './roles';
import { SecretOnce } from './secret-once';

const lifetimeDaysMax = 365;

type TokenFormProps = { ownRole: Role; onDone: () => void };

/** Makes a token of one's own, with one's own role at most; it is shown this once. */
export function TokenForm({ ownRole, onDone }: TokenFormProps) {
  const { t } = useTranslation();
  const create = useMutation(createToken(useQueryClient()));
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('VIEWER');
  const [days, setDays] = useState<number | string>(30);
  const [patterns, setPatterns] = useState('');
  const [isReadOnly, setIsReadOnly] = useState(false);
  const [isTried, setIsTried] = useState(false);
  const created = create.data?.data.created;
  if (created) {
    return (
      <SecretOnce
        label={t('tokens.secret', { name: created.token.name })}
        secret={created.secret}
        hint={t('tokens.secretHint')}
        onDone={onDone}
      />
    );
  }
  const hasDays = typeof days === 'number' && days >= 1 && days <= lifetimeDaysMax;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIsTried(true);
    if (name.trim() === '' || !hasDays) return;
    create.mutate({
      name: name.trim(),
      role,
      lifetimeDays: days,
      clusterPatterns: patternsIn(patterns),
      isReadOnly,
    });
  };
  return (
    <form className={classes.form} onSubmit={submit} noValidate>
      {create.error ? (
        <ErrorNotice
          error={create.error}
          onRetry={() => create.variables && create.mutate(create.variables)}
        />
      ) : null}
      <TextInput
        label={t('tokens.name')}
        description={t('tokens.nameHint')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={isTried && name.trim() === '' ? t('problem.empty') : undefined}
        autoComplete="off"
        spellCheck={false}
        required
        withAsterisk={false}
        data-autofocus
      />
      <Select
        label={t('tokens.role')}
        description={t(`roleHint.${role}`)}
        data={rolesUpTo(ownRole).map((one) => ({ value: one, label: t(`userRole.${one}`) }))}
        value={role}
        onChange={(one) => setRole(rolesUpTo(ownRole).find((known) => known === one) ?? role)}
        allowDeselect={false}
      />
      <NumberInput
        label={t('tokens.days')}
        description={t('tokens.daysHint', { max: lifetimeDaysMax })}
        value={days}
        onChange={setDays}
        error={
          isTried && !hasDays ? t('problem.range', { low: 1, high: lifetimeDaysMax }) : undefined
        }
        min={1}
        max={lifetimeDaysMax}
        clampBehavior="none"
        allowDecimal={false}
      />
      <PatternsField value={patterns} onChange={setPatterns} />
      <Checkbox
        label={t('tokens.readOnly')}
        checked={isReadOnly}
        onChange={(event) => setIsReadOnly(event.currentTarget.checked)}
      />
      <div className={classes.end}>
        <Button type="submit" loading={create.isPending}>
          {t('tokens.create')}
        </Button>
      </div>
    </form>
  );
}
