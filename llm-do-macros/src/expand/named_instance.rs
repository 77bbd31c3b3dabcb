//! `name = instance(TYPE)` in `toolset!`

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, LitStr, Path};

use super::declaration::{self, hash_type};
use super::{error_span, toolset};
use crate::args::toolset::Member;

/// Makes the type `ident` a toolset with the tools of the type `of` under the name of the instance, and registers it.
pub(super) fn items(
    ident: &Ident,
    name: &str,
    description: &TokenStream,
    rules: &TokenStream,
    of: &Path,
) -> TokenStream {
    let prefix = LitStr::new(&format!("{name}__"), ident.span());
    let member = Member::Prefixed { prefix, member: Box::new(Member::Path(of.clone())) };
    let named = declaration::members(name, &[member], ident.span());
    let includes = declaration::includes_type(ident, &quote!(__llm_do::InstanceOf<#of, #ident>));
    let key = hash_type(name);
    let tools = quote!(.instance_of(<#of as __llm_do::Toolset>::MEMBERS) #rules);
    let registration = toolset::definition(ident, name, description, &tools);
    let stateful = quote_spanned!(error_span(of)=> const _: () = __llm_do::assert_stateful::<#of>(););
    quote! {
        #named
        #stateful
        impl __llm_do::Toolset for #ident {
            const MEMBERS: &'static [__llm_do::Member] =
                &__llm_do::registered_as_shown::<{ __llm_do::count(__MEMBERS) }>(__MEMBERS[0]);
        }
        // A type parameter, since an associated type could expose a private one.
        impl<__Toolset: __llm_do::Includes> __llm_do::NamedInstance for #ident
        where
            #of: __llm_do::Alias<Of = __Toolset>,
        {
            const NAME: &'static str = #name;
            type Key = #key;
            type Toolset = __Toolset;
        }
        #includes
        #[allow(dead_code, unreachable_pub)]
        #[allow(clippy::missing_const_for_fn)]
        impl #ident {
            /// Returns the call of a tool of this instance.
            #[must_use]
            pub fn of<T>(call: T) -> __llm_do::OfInstance<Self, T>
            where
                Self: __llm_do::HasTool<T>,
            {
                __llm_do::OfInstance::new(call)
            }
        }
        #registration
    }
}
