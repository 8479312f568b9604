import { Button, Select, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNotice } from '@/components/error-notice';
import type { Role } from '@/gql/operations';
import classes from './access-form.module.css';
import { inviteUser } from './access-queries';
import { PatternsField } from './patterns-field';
import { patternsIn, roles } from './roles';
import { SecretOnce } from './secret-once';

const nameLengthMax = 128;

/** Adds a user, and shows the one-time password only once. */
export function UserForm({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const invite = useMutation(inviteUser(useQueryClient()));
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('VIEWER');
  const [patterns, setPatterns] = useState('');
  const [isTried, setIsTried] = useState(false);
  const invited = invite.data?.data.invited;
  if (invited) {
    return (
      <SecretOnce
        label={t('users.password', { name: invited.user.name })}
        secret={invited.password}
        hint={t('users.passwordHint')}
        onDone={onDone}
      />
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIsTried(true);
    if (name.trim() === '') return;
    invite.mutate({ name: name.trim(), role, clusterPatterns: patternsIn(patterns) });
  };
  return (
    <form className={classes.form} onSubmit={submit} noValidate>
      {invite.error ? (
        <ErrorNotice
          error={invite.error}
          onRetry={() => invite.variables && invite.mutate(invite.variables)}
        />
      ) : null}
      <TextInput
        label={t('users.name')}
        description={t('users.nameHint', { max: nameLengthMax })}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={isTried && name.trim() === '' ? t('problem.empty') : undefined}
        maxLength={nameLengthMax}
        autoComplete="off"
        spellCheck={false}
        required
        withAsterisk={false}
        data-autofocus
      />
      <Select
        label={t('users.role')}
        description={t(`roleHint.${role}`)}
        data={roles.map((one) => ({ value: one, label: t(`userRole.${one}`) }))}
        value={role}
        onChange={(one) => setRole(roles.find((known) => known === one) ?? 'VIEWER')}
        allowDeselect={false}
      />
      <PatternsField value={patterns} onChange={setPatterns} />
      <div className={classes.end}>
        <Button type="submit" loading={invite.isPending}>
          {t('users.add')}
        </Button>
      </div>
    </form>
  );
}
