// Columns of databases by the names of fields: `txn_id` for `txnId`, and the other way round.

export const columnOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const fieldOf = (column: string): string => column.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
